// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <exception>
#include <string>

#include <ATen/core/Tensor.h>

#include "lowtide/errors.h"
#include "lowtide/lowtide.h"
#include "run/torch/interceptor.h"

// What the functions of lowtide/lowtide.h share: errors as statuses, texts and tensors as C has
// them.

namespace lowtide::capi {

// Of this thread's last call that failed.
std::string& last_error();

lowtide_status failed(lowtide_status status, const char* message);

// Carries `body` out; nothing is thrown from here.
template <class Body>
lowtide_status guarded(const Body& body) {
  try {
    body();
    return LOWTIDE_OK;
  } catch (const InvalidInput& error) {
    return failed(LOWTIDE_INVALID_INPUT, error.what());
  } catch (const OutOfMemory& error) {
    return failed(LOWTIDE_OUT_OF_MEMORY, run::describe_as_torch(error).c_str());
  } catch (const DeviceError& error) {
    return failed(LOWTIDE_DEVICE_ERROR, error.what());
  } catch (const IoError& error) {
    return failed(LOWTIDE_IO_ERROR, error.what());
  } catch (const std::exception& error) {
    return failed(LOWTIDE_INTERNAL_ERROR, error.what());
  }
}

// For the caller, who frees it with lowtide_free().
char* copy_of(const std::string& text);

// A handle of a c10::TensorImpl that somebody else keeps.
at::Tensor tensor_at(void* impl);

}  // namespace lowtide::capi
