// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "capi/calls.h"

#include <cstdlib>
#include <cstring>
#include <new>

namespace lowtide::capi {

std::string& last_error() {
  thread_local std::string error;
  return error;
}

lowtide_status failed(lowtide_status status, const char* message) {
  last_error() = message;
  return status;
}

char* copy_of(const std::string& text) {
  char* copy = static_cast<char*>(std::malloc(text.size() + 1));
  if (copy == nullptr) throw std::bad_alloc();
  std::memcpy(copy, text.c_str(), text.size() + 1);
  return copy;
}

at::Tensor tensor_at(void* impl) {
  return at::Tensor(c10::intrusive_ptr<c10::TensorImpl, c10::UndefinedTensorImpl>::reclaim_copy(
      static_cast<c10::TensorImpl*>(impl)));
}

}  // namespace lowtide::capi
