# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""Reads the safetensors files that `lowtide decompose -o` writes."""

import json
import pathlib

import torch

_TYPES = {"F64": torch.float64, "F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16,
          "I64": torch.int64, "I32": torch.int32, "I16": torch.int16, "I8": torch.int8,
          "U8": torch.uint8, "BOOL": torch.bool}
_LENGTH_BYTES = 8


def _tensor(data, start, entry):
    kind, shape = _TYPES[entry["dtype"]], entry["shape"]
    begin, end = entry["data_offsets"]
    if begin == end:
        return torch.empty(shape, dtype=kind)
    # Of memory of its own, so that nothing depends on where in the file it lay.
    return torch.frombuffer(data[start + begin:start + end], dtype=kind).reshape(shape)


def read(path):
    """The texts and the tensors of the file, each by name."""
    data = bytearray(pathlib.Path(path).read_bytes())
    start = _LENGTH_BYTES + int.from_bytes(data[:_LENGTH_BYTES], "little")
    try:
        header = json.loads(data[_LENGTH_BYTES:start])
        texts = header.pop("__metadata__", {})
        return texts, {name: _tensor(data, start, entry) for name, entry in header.items()}
    except (ValueError, KeyError, TypeError, AttributeError, RuntimeError) as error:
        raise ValueError(f"{path} is not a whole safetensors file: {error}") from None
