// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include "run/engine/device.h"

namespace lowtide::run {

// The CPU as a device: the budget caps what goes through torch's CPU allocator, and moved values
// lie in ordinary memory outside of it. One in a process; never destroyed.
engine::Device& cpu_device();

}  // namespace lowtide::run
