// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <torch/headeronly/version.h>

// Which torch this is compiled with. The oldest is 2.11, the one we test most; newer ones are tried
// by `make test-newest`. What differs between them is asked for in two files only:
// run/torch/storage_access.cpp and run/cuda/delegating_allocator.h. In the order of the versions:
//
// 2.12  StorageImpl can take back the error that data_ptr() throws. CUDAAllocator has
//       attachOomRejectionObserver() and getContextForPointer().
// 2.13  CUDAAllocator has markCaptureBegin(), markCaptureEnd() and allocateWithAddress(). A tensor
//       no longer knows its Python interpreter; it always was the global one, which we ask for in
//       all versions. Copy on write is a hook of StorageImpl rather than a kind of DataPtr; its
//       blocks still have a context of their own, by which the books leave them alone.
// 2.14  CUDAAllocator has supportsUserMetadata() and annotateMemory().
// 2.15  Named tensors, torch.qr() and torch.cholesky() are gone by now. shallow_copy_data_() gives
//       a tensor another's storage, as set_() does. The tables of run/torch/effects.cpp are those
//       of all versions.

// Whether torch is of this version or newer; for #if.
#define LT_TORCH_AT_LEAST(major, minor) \
  (TORCH_VERSION_MAJOR > (major) ||     \
   (TORCH_VERSION_MAJOR == (major) && TORCH_VERSION_MINOR >= (minor)))
