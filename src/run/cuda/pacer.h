// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <memory>
#include <mutex>

#include <cuda_runtime_api.h>

namespace lowtide::cuda {

// Where the device is faster than the host that issues its work, an event before an op and one
// after it tell how long the host took. So the device is made to wait until the host has issued a
// few dozen ops, and works through these while the next ones are issued. Any thread may call it.
class Pacer {
 public:
  Pacer();
  // Lets the device go on.
  ~Pacer() { release(); }
  Pacer(const Pacer&) = delete;
  Pacer& operator=(const Pacer&) = delete;

  // An op is about to be issued to the stream.
  void pace(cudaStream_t stream);
  // The device waits no more.
  void release();
  // Whether the device has not begun with anything that was issued since the last op of pace().
  bool holds_device();

 private:
  // The device stands before it until it is opened, or for a while: the host may be waiting for the
  // device.
  class Gate;

  // Both require the lock.
  bool open_gate();
  bool is_standing() const;

  std::mutex mutex_;
  // The members below are guarded by mutex_.
  int ops_in_batch_ = 0;
  // Before the batch that is being issued; null: there is none.
  std::shared_ptr<Gate> gate_;
  // How long the device stands before a gate: half as long where the host did not come in time, for
  // it waits for the device, and twice as long where it did.
  std::chrono::milliseconds patience_;
};

}  // namespace lowtide::cuda
