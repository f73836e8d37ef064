// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include <memory>
#include <string>
#include <tuple>
#include <vector>

#include <torch/library.h>

#include "estimate/allocation_walk.h"
#include "estimate/onnx_graph.h"
#include "estimate/torch/dry_run.h"
#include "estimate/torch/onnx_step.h"

// Dry runs for the tests of this folder, one thread at a time. What begins and ends one is no
// operator: within a dry run these are not carried out.

namespace lowtide {
namespace {

std::unique_ptr<estimate::DryRun>& running() {
  static std::unique_ptr<estimate::DryRun> dry_run;
  return dry_run;
}

// The file's contents are one byte an element. Gives the peak of a step in bytes as they are asked
// for, and the warnings; throws what an estimate throws.
std::tuple<std::int64_t, std::vector<std::string>> onnx(const at::Tensor& file, std::int64_t batch,
                                                        std::int64_t free_axis) {
  const std::string_view bytes(static_cast<const char*>(file.const_data_ptr()),
                               static_cast<std::size_t>(file.numel()));
  estimate::StepOptions options;
  options.batch = batch;
  options.target = estimate::Target::kCpu;
  estimate::AxisSizes axes;
  if (free_axis > 0) axes.others = free_axis;
  const estimate::OnnxStep step = estimate::onnx_step(estimate::read_onnx(bytes), options, axes);
  constexpr std::int64_t kEndless = std::int64_t{1} << 50;
  const AllocatorRules exact = {
      .round_bytes = 1, .small_bytes = kEndless, .small_segment_bytes = kEndless};
  const auto peaks = estimate::walk_training(step.step.trace, exact, {});
  return {peaks.steady.allocated_bytes, step.warnings};
}

TORCH_LIBRARY(lowtide_estimate, library) {
  library.def("onnx(Tensor file, int batch, int free_axis) -> (int, str[])");
}

TORCH_LIBRARY_IMPL(lowtide_estimate, CompositeExplicitAutograd, library) {
  library.impl("onnx", TORCH_FN(onnx));
}

}  // namespace
}  // namespace lowtide

extern "C" {

// On the CPU if there is no name, or as on the GPU of that name; there must be one.
void lowtide_dry_run_begin(const char* gpu) {
  using namespace lowtide;
  estimate::Target target;
  if (*gpu != 0) target.gpu = estimate::gpu_named(gpu).architecture;
  running() = std::make_unique<estimate::DryRun>(target);
}

// What was made since it began must be gone.
void lowtide_dry_run_end() { lowtide::running().reset(); }

}  // extern "C"
