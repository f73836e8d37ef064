// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "timeline.h"

#include <set>
#include <utility>

#include <torch/csrc/autograd/profiler_kineto.h>

namespace lowtide::bench {

namespace profiler = torch::autograd::profiler;

Timeline::Timeline(std::string file) : file_(std::move(file)) {
  const torch::profiler::impl::ProfilerConfig config(torch::profiler::impl::ProfilerState::KINETO);
  const std::set<torch::profiler::impl::ActivityType> activities = {
      torch::profiler::impl::ActivityType::CPU, torch::profiler::impl::ActivityType::CUDA};
  profiler::prepareProfiler(config, activities);
  profiler::enableProfiler(config, activities);
}

Timeline::~Timeline() { profiler::disableProfiler()->save(file_); }

}  // namespace lowtide::bench
