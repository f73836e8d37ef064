# SPDX-FileCopyrightText: 2026 The Lowtide Authors
# SPDX-License-Identifier: MIT
"""The shared library behind the package: found, checked against torch, and called through ctypes."""

import ctypes
import functools
import os
import pathlib

import torch

OK, INVALID_INPUT, OUT_OF_MEMORY, DEVICE_ERROR, IO_ERROR, INTERNAL_ERROR = range(6)

# How torch's allocators begin their messages: programs that look for a batch that fits know an error
# by these words.
OUT_OF_MEMORY_ON_A_GPU = "CUDA out of memory. "
OUT_OF_MEMORY_ON_THE_CPU = "DefaultCPUAllocator: can't allocate memory: "

# What the functions of lowtide.h take; most of them begin with a session.
_SESSION = ctypes.c_void_p
_CALLS = {
    "lowtide_open": [ctypes.c_char_p, ctypes.POINTER(ctypes.c_void_p)],
    "lowtide_close": [_SESSION],
    "lowtide_end_step": [_SESSION, ctypes.c_int],
    "lowtide_hold_tensor": [_SESSION, ctypes.c_void_p],
    "lowtide_release_tensor": [_SESSION, ctypes.c_void_p],
    "lowtide_hold_storage": [_SESSION, ctypes.c_void_p],
    "lowtide_release_storage": [_SESSION, ctypes.c_void_p],
    "lowtide_keep_tensor_address": [ctypes.c_void_p],
    "lowtide_keep_storage_address": [ctypes.c_void_p],
    "lowtide_bring_all_back": [],
    "lowtide_begin_opaque": [_SESSION],
    "lowtide_end_opaque": [_SESSION],
    "lowtide_name": [_SESSION, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p],
    "lowtide_stats": [_SESSION, ctypes.POINTER(ctypes.c_void_p)],
    "lowtide_reset_peaks": [_SESSION],
    "lowtide_capture_next_step": [_SESSION],
    "lowtide_captured": [_SESSION, ctypes.c_char_p, ctypes.POINTER(ctypes.c_void_p)],
    "lowtide_run_record": [_SESSION, ctypes.c_char_p, ctypes.POINTER(ctypes.c_void_p)],
    "lowtide_report_page": [ctypes.c_char_p, ctypes.c_double, ctypes.POINTER(ctypes.c_void_p)],
    "lowtide_choose_form": [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p,
                            ctypes.POINTER(ctypes.c_void_p)],
    "lowtide_is_noise": [ctypes.c_void_p, ctypes.POINTER(ctypes.c_int)],
    "lowtide_factor_shapes": [ctypes.c_char_p, ctypes.POINTER(ctypes.c_int64), ctypes.c_int,
                              ctypes.POINTER(ctypes.c_void_p)],
    "lowtide_factorise": [ctypes.c_void_p, ctypes.c_char_p, ctypes.POINTER(ctypes.c_void_p),
                          ctypes.c_int, ctypes.POINTER(ctypes.c_double)],
}


class Error(RuntimeError):
    """Something failed in Lowtide; the text says what."""


class DeviceError(Error):
    """The accelerator or its driver failed."""


def _minor(version):
    """"2.11" of "2.11.0+cu130"."""
    return ".".join(version.split("+")[0].split(".")[:2])


def _built_with():
    """The torch that the installed library was built with; None where it is not written down."""
    path = pathlib.Path(__file__).with_name("built_with_torch.txt")
    return path.read_text().strip() if path.exists() else None


def _refuse_other_torch(built_with):
    if _minor(torch.__version__) == built_with:
        return
    raise ImportError(
        f"this lowtide was built for torch {built_with}, but torch {torch.__version__} is imported. "
        f"Install torch {built_with} (pip install 'torch=={built_with}.*'), or build lowtide anew "
        "for this one (in a checkout of it: pip install scikit-build-core; pip install "
        "--force-reinstall --no-deps --no-build-isolation .)")


def refuse_to_overlook_gpus():
    """A library that was built for the processor only would leave a GPU without a cap, unasked."""
    if torch.cuda.is_available() and not library().lowtide_is_built_for_gpus():
        raise DeviceError(
            "torch has a GPU, but this lowtide was built for the processor only. Build it anew where "
            "CUDA's headers are (in a checkout, pip install --force-reinstall --no-deps .), or say "
            "device='cpu' for a budget of the processor's memory")


def library_path():
    """Where the library lies: LOWTIDE_LIBRARY, or in this package."""
    named = os.environ.get("LOWTIDE_LIBRARY")
    if named:
        return pathlib.Path(named)
    return pathlib.Path(__file__).parent / "lib" / "liblowtide.so.0"


@functools.cache
def library():
    """The loaded library. Raises ImportError that says what to do."""
    if built_with := _built_with():
        _refuse_other_torch(built_with)
    path = library_path()
    if not path.exists():
        raise ImportError(f"lowtide: there is no library at {path}. Install the package "
                          "(pip install .), or name one in LOWTIDE_LIBRARY")
    try:
        # As torch loads libraries with operators: ours has a fallback for all of them.
        torch.ops.load_library(str(path))
        loaded = ctypes.CDLL(str(path))
    except OSError as error:
        raise ImportError(f"lowtide: {path} does not go with torch {torch.__version__}: {error}. "
                          "Build lowtide anew for this torch") from error
    _declare(loaded)
    _refuse_other_torch(loaded.lowtide_torch_version().decode())
    return loaded


def _declare(loaded):
    for name, arguments in _CALLS.items():
        function = getattr(loaded, name)
        function.argtypes = arguments
        function.restype = ctypes.c_int
    for name in ("lowtide_version", "lowtide_torch_version", "lowtide_error"):
        getattr(loaded, name).restype = ctypes.c_char_p
    loaded.lowtide_free.argtypes = [ctypes.c_void_p]
    loaded.lowtide_free.restype = None
    for name in ("lowtide_set_thread_managed", "lowtide_keep_what_is_made"):
        getattr(loaded, name).argtypes = [ctypes.c_int]
        getattr(loaded, name).restype = ctypes.c_int
    loaded.lowtide_is_in_use.argtypes = [ctypes.c_void_p]
    loaded.lowtide_is_in_use.restype = ctypes.c_int
    loaded.lowtide_is_built_for_gpus.argtypes = []
    loaded.lowtide_is_built_for_gpus.restype = ctypes.c_int
    loaded.lowtide_after_fork.restype = None


def _exception_for(status, message):
    if status == INVALID_INPUT:
        return ValueError(message)
    if status == OUT_OF_MEMORY:
        return torch.OutOfMemoryError(message)
    if status == DEVICE_ERROR:
        return DeviceError(message)
    if status == IO_ERROR:
        return OSError(message)
    return Error(message)


def call(name, *arguments):
    """Calls a function of the library; raises what its status stands for."""
    status = getattr(library(), name)(*arguments)
    if status != OK:
        raise _exception_for(status, library().lowtide_error().decode())


def text_of(name, session, *arguments):
    """What a function gives out as a text."""
    pointer = ctypes.c_void_p()
    call(name, session, *arguments, ctypes.byref(pointer))
    return take_text(pointer)


def take_text(pointer):
    """The text that the library gave out, which is freed."""
    try:
        return ctypes.string_at(pointer).decode()
    finally:
        library().lowtide_free(pointer)
