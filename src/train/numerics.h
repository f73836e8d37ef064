// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <c10/core/Device.h>
#include <c10/core/DeviceType.h>

#include "zoo/model.h"

namespace lowtide::train {

// Has torch use kernels that give the same bits every time, for the rest of the process. To be
// called before the device is used.
void make_deterministic(zoo::InputKind kind, c10::Device device);

// torch.autocast(device, bfloat16) while it lives.
class Bf16Autocast {
 public:
  explicit Bf16Autocast(c10::DeviceType device);
  ~Bf16Autocast();
  Bf16Autocast(const Bf16Autocast&) = delete;
  Bf16Autocast& operator=(const Bf16Autocast&) = delete;

 private:
  const c10::DeviceType device_;
};

}  // namespace lowtide::train
