// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "estimate/torch/dry_run.h"

#include <utility>

#include <ATen/EmptyTensor.h>

#include "base/check.h"
#include "estimate/priced_trace.h"
#include "estimate/torch/shape_kernels.h"
#include "run/torch/kernels.h"

namespace lowtide::estimate {

DryRun::DryRun(const Target& target)
    : target_(target), session_({.device = "cpu", .step_aside = false}) {
  const at::TensorBase probe = at::detail::empty_cpu({1}, at::kByte);
  LT_CHECK(NoMemory::owns(probe.const_data_ptr()),
           "an estimate has to come before other sessions of the process");
  start_op_log(target_);
  run::set_kernels(&run_on_shapes);
  if (target_.gpu) gpu_choices_ = std::make_unique<GpuChoices>(*target_.gpu);
}

DryRun::~DryRun() { run::set_kernels(nullptr); }

DryStep DryRun::capture(const std::string& name, const std::function<void()>& step) {
  session_.end_step();
  session_.capture_next_step();
  session_.step([&] {
    start_op_log(target_);
    step();
  });
  std::vector<std::int64_t> flops, early_workspace_bytes;
  for (const LoggedOp& op : op_log()) {
    flops.push_back(op.flops);
    early_workspace_bytes.push_back(op.early_workspace_bytes);
  }
  return {priced_trace(session_.captured(name), flops), std::move(early_workspace_bytes)};
}

}  // namespace lowtide::estimate
