# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""Readers of memory that torch's dispatcher does not see: numpy, DLPack, pickle and the like.

While a session is open they are wrapped: what they read is brought back first. Whoever gets an
address keeps the storage on the device for good, since nobody says when the address is not used any
more; the others keep it only while they read. What is computed from memory that was handed out, to
numpy say, is not computed again, since it may have been written by then.
"""

import contextlib
import functools
import threading

import torch

from . import _identities, _library, _patching, _session

_patches = _patching.Patches()
_thread = threading.local()


@contextlib.contextmanager
def nothing_is_kept():
    """Inside, addresses that this thread asks for keep nothing: the caller has seen to that."""
    before = getattr(_thread, "is_passing", False)
    _thread.is_passing = True
    try:
        yield
    finally:
        _thread.is_passing = before


def is_passing():
    return getattr(_thread, "is_passing", False) or _session.current() is None


def _shares_tensor(original):
    """The tensor's memory is handed out: who has it may write to it at any time."""
    @functools.wraps(original)
    def reader(self, *arguments, **options):
        if not is_passing():
            _session.current().hold(self)
        return original(self, *arguments, **options)
    return reader


def _shares_array(original):
    def interface(self):
        # Most tensors have none.
        description = original.fget(self)
        if not is_passing():
            _session.current().hold(self)
        return description
    return property(interface, doc=original.__doc__)


def _is_used_by_an_op(tensor):
    """Whether we are in the body of an operator that has the tensor: so it stays till that ends."""
    # In there, ops are not seen.
    return torch._C._dispatch_tls_is_dispatch_key_excluded("Fake") and (
        _library.library().lowtide_is_in_use(tensor._cdata))


def _tells_address(original):
    """Of a tensor. Kernels get it each time that they are launched."""
    @functools.wraps(original)
    def reader(self):
        if is_passing() or _is_used_by_an_op(self):
            return original(self)
        # Without elements, it is 0.
        if self.numel() > 0 and not self.is_meta and _identities.is_asked_to_compare():
            return _identities.of_tensor(self)
        _library.call("lowtide_keep_tensor_address", self._cdata)
        return original(self)
    return reader


def _reads_tensor(original):
    """It, and tensors among the arguments; and it may write to them, past the dispatcher."""
    @functools.wraps(original)
    def reader(self, *arguments, **options):
        if is_passing():
            return original(self, *arguments, **options)
        used = [value for value in (self, *arguments, *options.values())
                if isinstance(value, torch.Tensor)]
        with _session.hold(*used):
            return original(self, *arguments, **options)
    return reader


def _tells_storage_address(original):
    @functools.wraps(original)
    def reader(self):
        if getattr(_thread, "is_saving", False):
            # torch.save only tells storages apart by their addresses.
            return _identities.of_storage(self)
        if not is_passing():
            if self.nbytes() > 0 and self.device.type != "meta" and (
                    _identities.is_asked_to_compare()):
                return _identities.of_storage(self)
            _library.call("lowtide_keep_storage_address", self._cdata)
        return original(self)
    return reader


@contextlib.contextmanager
def _storage_held(storage):
    session = None if is_passing() else _session.current()
    if session:
        session.hold_storage(storage)
    try:
        yield
    finally:
        session = _session.heir_of(session)
        if session:
            session.release_storage(storage)


def _reads_storage(original):
    @functools.wraps(original)
    def reader(self, *arguments, **options):
        with _storage_held(self):
            return original(self, *arguments, **options)
    return reader


def _takes_storage(original):
    """set_() looks at the bytes of a storage that it is given."""
    @functools.wraps(original)
    def reader(self, *arguments, **options):
        with contextlib.ExitStack() as held:
            for value in (*arguments, *options.values()):
                if isinstance(value, torch.TypedStorage):
                    value = value._untyped_storage
                if isinstance(value, torch.UntypedStorage):
                    held.enter_context(_storage_held(value))
            return original(self, *arguments, **options)
    return reader


class _Writer:
    """A zip file being written by torch.save, which reads each storage when its turn comes: so no
    more than one of them has to be on the device for that."""

    def __init__(self, writer):
        self._writer = writer

    def __getattr__(self, name):
        return getattr(self._writer, name)

    def write_record(self, name, source, size):
        if not isinstance(source, torch.UntypedStorage):
            return self._writer.write_record(name, source, size)
        with _storage_held(source):
            return self._writer.write_record(name, source, size)


def _saves(original):
    @functools.wraps(original)
    def save(obj, file, *arguments, **options):
        is_zip = isinstance(file, torch._C.PyTorchFileWriter)
        _thread.is_saving = True
        try:
            return original(obj, _Writer(file) if is_zip else file, *arguments, **options)
        finally:
            _thread.is_saving = False
    return save


def _reads_module(original):
    """All that the module has, by its addresses at once: writers and exporters in C++."""
    @functools.wraps(original)
    def writer(module, *arguments, **options):
        tensors = ([*module.parameters(), *module.buffers()]
                   if isinstance(module, torch.nn.Module) and not is_passing() else ())
        with _session.opaque(tensors):
            return original(module, *arguments, **options)
    return writer


def _flattens(original):
    """cuDNN's recurrent layers compare addresses of weights and do not keep them."""
    @functools.wraps(original)
    def flatten_parameters(self):
        with nothing_is_kept(), _session.hold(*self._flat_weights):
            return original(self)
    return flatten_parameters


def _not_compiled(make):
    """torch.compile would compile what stands in the place of Tensor.numpy, which it calls itself to
    hand arrays out, and so on without end."""
    @functools.wraps(make)
    def made(original):
        reader = make(original)
        # A torch without these names, which are its own, compiles what hands no arrays out.
        with contextlib.suppress(AttributeError, TypeError):
            compiler = torch._C._dynamo.eval_frame
            skip = compiler._FrameAction.SKIP
            compiler.set_code_exec_strategy(reader.__code__, compiler._FrameExecStrategy(skip, skip))
        return reader
    return made


def _install():
    for name in ("numpy", "__dlpack__"):
        _patches.replace(torch.Tensor, name, _not_compiled(_shares_tensor))
    _patches.replace(torch.Tensor, "__cuda_array_interface__", _shares_array)
    _patches.replace(torch.Tensor, "data_ptr", _tells_address)
    # Other libraries take addresses by it without a word of Python; without it they ask __dlpack__.
    _patches.remove(torch.Tensor, "__dlpack_c_exchange_api__")
    # is_shared() of what is away would end the process.
    for name in ("tolist", "__deepcopy__", "is_shared", "is_pinned", "share_memory_", "apply_",
                 "map_", "map2_"):
        _patches.replace(torch.Tensor, name, _reads_tensor)
    for owner, name in ((torch.utils.dlpack, "to_dlpack"), (torch, "to_dlpack")):
        _patches.replace(owner, name, _shares_tensor)
    _patches.replace(torch.UntypedStorage, "data_ptr", _tells_storage_address)
    for name in ("__getitem__", "__setitem__", "_write_file", "_set_from_file", "copy_", "fill_", "resize_", "tolist", "clone",
                 "cpu", "cuda", "is_shared", "is_pinned", "_share_fd_cpu_", "_share_filename_cpu_",
                 "_share_cuda_", "_byteswap"):
        _patches.replace(torch.UntypedStorage, name, _reads_storage)
    _patches.replace(torch.Tensor, "set_", _takes_storage)
    for name in ("_save", "_legacy_save"):
        _patches.replace(torch.serialization, name, _saves)
    for owner in (torch.jit.ScriptModule, torch.jit.RecursiveScriptModule):
        for name in ("save", "save_to_buffer"):
            _patches.replace(owner, name, _reads_module)
    _patches.when_imported(
        "torch.onnx", lambda module: _patches.replace(module, "export", _reads_module))
    _patches.replace(torch.nn.RNNBase, "flatten_parameters", _flattens)


_session.add_patch(_install, _patches.undo)
