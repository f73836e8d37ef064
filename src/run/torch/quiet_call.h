// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include "run/torch/arguments.h"
#include "run/torch/current_op.h"
#include "run/torch/effects.h"
#include "run/torch/random_state.h"
#include "run/torch/runtime.h"

namespace lowtide::run {

// One intercepted op of a guided step for which the plan wants nothing done: its storages are not
// looked up, pinned and entered one by one. The books only know which ones it is using, so that
// these stay, and what it made, in case everything else is not enough.
class QuietCall {
 public:
  QuietCall(Runtime& runtime, const OpEffects& effects);
  ~QuietCall();
  QuietCall(const QuietCall&) = delete;
  QuietCall& operator=(const QuietCall&) = delete;

  // To be called before the op runs, with the tensors among its arguments. False: it is no such op,
  // and nothing was done.
  bool begin(const TensorPointers& arguments);
  // The op has run and returned these. Without that call, it failed.
  void end(const TensorPointers& results);

 private:
  bool collect(const TensorPointers& arguments, Books::Lock& lock);
  bool add(const at::Tensor& tensor, Books::Lock& lock);
  bool is_new(const at::Tensor& result, Books::Lock& lock) const;

  Runtime& runtime_;
  Books& books_;
  const OpEffects& effects_;
  CurrentOp name_;
  // Of a random op; see random_state.h.
  TurnToDraw turn_;
  QuietUse use_;
  std::uint64_t signature_;
  int tick_ = -1;
  bool is_begun_ = false;
};

}  // namespace lowtide::run
