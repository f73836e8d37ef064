// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace lowtide::run {

// The name of the op that this thread is carrying out, for messages; empty between ops.
const std::string& current_op();

// Names the op while it is in scope.
class CurrentOp {
 public:
  explicit CurrentOp(const std::string& name);
  ~CurrentOp();
  CurrentOp(const CurrentOp&) = delete;
  CurrentOp& operator=(const CurrentOp&) = delete;

 private:
  const std::string* before_;
};

}  // namespace lowtide::run
