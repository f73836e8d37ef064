// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "run/cuda/native_limit.h"

#include <algorithm>

#include <c10/core/AllocatorConfig.h>

namespace lowtide::cuda {

void NativeLimit::set(std::int64_t bytes) {
  if (!old_fraction_) old_fraction_ = native_.getMemoryFraction(device_);
  // Native looks at its limit first and then grows a segment: it may pass it.
  const bool grows = c10::CachingAllocator::AcceleratorAllocatorConfig::use_expandable_segments();
  const std::int64_t limit = bytes - (grows ? kGrowthBytes : 0);
  // Half a byte more, so that rounding never takes one away.
  const double fraction = (static_cast<double>(limit) + 0.5) / static_cast<double>(device_bytes_);
  native_.setMemoryFraction(std::clamp(fraction, 0.0, 1.0), device_);
}

void NativeLimit::lift() {
  if (old_fraction_) native_.setMemoryFraction(*old_fraction_, device_);
  old_fraction_.reset();
}

}  // namespace lowtide::cuda
