// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>
#include <c10/util/SmallVector.h>

#include "run/torch/effects.h"
#include "run/torch/runtime.h"

namespace lowtide::run {

// One intercepted op of a guided step for which the plan wants nothing done: its storages are not
// looked up, pinned and entered one by one. The books only know which ones it is using, so that
// these stay, and what it made, in case everything else is not enough.
class QuietCall {
 public:
  // As those of Call.
  QuietCall(Runtime& runtime, const c10::OperatorHandle& op, const OpEffects& effects,
            c10::DispatchKeySet keys, torch::jit::Stack& stack);
  ~QuietCall();
  QuietCall(const QuietCall&) = delete;
  QuietCall& operator=(const QuietCall&) = delete;

  // False: it is no such op, and nothing was done.
  bool run();

 private:
  bool collect(Books::Lock& lock);
  bool add(const at::Tensor& tensor, Books::Lock& lock);
  bool begin();
  void end();
  void add_result(const at::Tensor& tensor, Books::Lock& lock);

  Runtime& runtime_;
  Books& books_;
  const c10::OperatorHandle& op_;
  const OpEffects& effects_;
  c10::DispatchKeySet keys_;
  torch::jit::Stack& stack_;
  std::size_t first_;
  QuietUse use_;
  c10::SmallVector<const at::Tensor*, 3> results_;
  std::uint64_t signature_;
  int tick_ = -1;
  bool is_begun_ = false;
};

}  // namespace lowtide::run
