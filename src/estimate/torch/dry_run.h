// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "estimate/torch/gpu_choices.h"
#include "estimate/torch/no_memory.h"
#include "estimate/torch/target.h"
#include "lowtide/session.h"
#include "lowtide/trace.h"

namespace lowtide::estimate {

// A step as it was captured, with the arithmetic of its ops and without the times that they took.
struct DryStep {
  Trace trace;
  // By op, as WalkOptions has it.
  std::vector<std::int64_t> early_workspace_bytes;
};

// While it lives, nothing that this thread or autograd asks of torch's CPU is computed, and tensors
// have no memory; everything else is as it would be: modules, autograd, optimizers, the order in
// which tensors come and go, all of which a session watches and captures. With a GPU as the
// target, ops take the way that they take there. One at a time; tensors made meanwhile must not
// outlive it.
class DryRun {
 public:
  // Throws InternalError if a session was opened in this process before that was none of ours.
  explicit DryRun(const Target& target);
  ~DryRun();
  DryRun(const DryRun&) = delete;
  DryRun& operator=(const DryRun&) = delete;

  Session& session() { return session_; }
  DryStep capture(const std::string& name, const std::function<void()>& step);

 private:
  const Target target_;
  const NoMemory no_memory_;
  Session session_;
  std::unique_ptr<GpuChoices> gpu_choices_;
};

}  // namespace lowtide::estimate
