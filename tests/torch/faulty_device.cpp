// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "torch/faulty_device.h"

#include <atomic>

#include "lowtide/errors.h"
#include "session/devices.h"
#include "torch/passing_device.h"

namespace lowtide::torch_test {
namespace {

struct Faults {
  std::atomic<bool> is_on{false};
  std::atomic<Copies> which{Copies::kOut};
  std::atomic<std::int64_t> left{0};
  std::atomic<bool> for_good{false};
  std::atomic<std::int64_t> failed{0};
};

Faults& faults() {
  static Faults faults;
  return faults;
}

void fail_if_it_is_time(Copies which) {
  Faults& plan = faults();
  if (!plan.is_on || plan.which != which) return;
  const std::int64_t left = plan.left.fetch_sub(1);
  if (left != 0 && !(left < 0 && plan.for_good)) return;
  ++plan.failed;
  throw DeviceError("a copy failed, as the test wants it");
}

class FaultyDevice final : public PassingDevice {
 public:
  using PassingDevice::PassingDevice;

  void start_copy_out(void* host, const void* block, std::int64_t bytes,
                      std::uint64_t last_use) override {
    fail_if_it_is_time(Copies::kOut);
    PassingDevice::start_copy_out(host, block, bytes, last_use);
  }
  void start_copy_in(void* block, void* host, std::int64_t bytes) override {
    fail_if_it_is_time(Copies::kIn);
    PassingDevice::start_copy_in(block, host, bytes);
  }
};

}  // namespace

void make_devices_faulty() {
  session::wrap_devices(
      [](engine::Device& device) -> engine::Device& { return *new FaultyDevice(device); });
}

void fail_copies(Copies which, std::int64_t number, bool for_good) {
  faults().which = which;
  faults().left = number;
  faults().for_good = for_good;
  faults().failed = 0;
  faults().is_on = true;
}

void stop_failing_copies() { faults().is_on = false; }

std::int64_t failed_copies() { return faults().failed; }

}  // namespace lowtide::torch_test
