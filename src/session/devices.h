// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "run/engine/device.h"
#include "run/torch/runtime.h"

namespace lowtide::session {

// How a GPU's memory is used; see SessionOptions.
struct GpuUse {
  bool expandable_segments = true;
  bool own_pages = true;
  auto operator<=>(const GpuUse&) const = default;
};

// A device and what manages it.
struct ManagedDevice {
  engine::Device& device;
  run::Runtime& runtime;
};

// By name as in SessionOptions::device; the same object for the same device, for ever. Throws
// InvalidInput for a name that is none, DeviceError for a device that is not there.
ManagedDevice& device_named(const std::string& name, const GpuUse& use);

// Whether GPUs can be managed at all; else the build was for the processor only.
bool is_built_for_gpus();

// Devices that are first asked for from here on are used through what `wrap` makes of them, for
// ever: tests put faults there.
void wrap_devices(std::function<engine::Device&(engine::Device&)> wrap);

// Half of the machine's memory.
std::int64_t default_host_cap();

}  // namespace lowtide::session
