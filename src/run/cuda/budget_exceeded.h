// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <utility>

#include <c10/util/Exception.h>

#include "lowtide/errors.h"

namespace lowtide::cuda {

// What the gate throws into torch's code in place of OutOfMemory. Torch, Python and the frameworks'
// batch-size finders take it for the out-of-memory error that they know; the session throws
// its cause instead.
class BudgetExceeded final : public c10::OutOfMemoryError {
 public:
  explicit BudgetExceeded(OutOfMemory cause)
      : c10::OutOfMemoryError(std::string("CUDA ") + cause.what()), cause_(std::move(cause)) {}

  const OutOfMemory& cause() const { return cause_; }

 private:
  OutOfMemory cause_;
};

}  // namespace lowtide::cuda
