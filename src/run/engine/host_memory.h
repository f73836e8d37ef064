// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

namespace lowtide::engine {

// Host memory for moved values, which the device copies from and to beside what it computes: so
// memory that is given out, or was given back, may still be in use by a copy. Any thread.
class HostMemory {
 public:
  virtual ~HostMemory() = default;

  // `bytes` long; null when its cap is reached.
  virtual void* allocate_host(std::int64_t bytes) = 0;
  virtual void free_host(void* host) = 0;
  // So much of it will be wanted soon, and taking it is slow.
  virtual void reserve_host(std::int64_t) {}
  virtual void set_host_cap(std::int64_t bytes) = 0;
  virtual std::int64_t host_held_bytes() const = 0;
  virtual std::int64_t host_peak_bytes() const = 0;

  // For who is not the device and wants to read the memory: whether the copy to it is done, and
  // waiting for that.
  virtual bool is_host_written(const void*) { return true; }
  virtual void wait_for_host(const void*) {}
  // For who is not the device and wants to write memory that was just allocated: waits for copies
  // from and to memory that was given back while they were under way.
  virtual void wait_for_freed_host() {}
};

}  // namespace lowtide::engine
