# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""Addresses that nobody reads from: the libraries that write models to files ask for them only to
see which tensors share memory. They get other numbers that tell the same, and nothing has to be on
the device for that."""

import sys

# By module, the functions that compare addresses and do nothing else with them.
_COMPARERS = {
    "safetensors.torch": {"storage_ptr", "_end_ptr", "_filter_shared_not_shared", "_is_complete"},
    "huggingface_hub.serialization._torch": {
        "storage_ptr", "_get_unique_id", "_end_ptr", "_filter_shared_not_shared", "_is_complete"},
    "transformers.pytorch_utils": {"id_tensor_storage"},
    "transformers.modeling_utils": {"_end_ptr", "_find_disjoint", "_find_identical"},
    "accelerate.utils.modeling": {"id_tensor_storage"},
}


def is_asked_to_compare():
    """Whether who asked our caller for an address is one of those. A function is known by its code,
    under whatever name others have imported it."""
    frame = sys._getframe(2)
    # Typed storages pass the question on.
    while frame is not None and frame.f_globals.get("__name__") == "torch.storage":
        frame = frame.f_back
    return frame is not None and (
        frame.f_code.co_name in _COMPARERS.get(frame.f_globals.get("__name__"), ()))


def of_storage(storage):
    """Another one for each storage that there is."""
    return storage._cdata


def of_tensor(tensor):
    """As far from that of the storage as the tensor's address is from the storage's."""
    return tensor.untyped_storage()._cdata + tensor.storage_offset() * tensor.element_size()
