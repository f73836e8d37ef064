// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "torch/meter.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <functional>
#include <mutex>
#include <unordered_map>
#include <utility>

#include <c10/core/Allocator.h>
#include <c10/core/CPUAllocator.h>
#include <c10/core/impl/alloc_cpu.h>

namespace lowtide::torch_test {
namespace {

struct Books {
  std::mutex mutex;
  std::unordered_map<void*, std::int64_t> sizes;
  std::int64_t held = 0;
  std::int64_t peak = 0;
};

std::function<void()>& listener() {
  static auto* const only = new std::function<void()>;
  return *only;
}

// Never destroyed: storages may be freed after the last static object is gone.
Books& books() {
  static Books* const only = new Books;
  return *only;
}

void give_back(void* data) {
  if (data == nullptr) return;
  {
    Books& all = books();
    const std::scoped_lock lock(all.mutex);
    const auto found = all.sizes.find(data);
    all.held -= found->second;
    all.sizes.erase(found);
  }
  c10::free_cpu(data);
}

class Meter final : public c10::Allocator {
 public:
  c10::DataPtr allocate(std::size_t bytes) override {
    void* const data = c10::alloc_cpu(bytes);
    if (data != nullptr) {
      Books& all = books();
      const std::scoped_lock lock(all.mutex);
      all.sizes[data] = static_cast<std::int64_t>(bytes);
      all.held += static_cast<std::int64_t>(bytes);
      all.peak = std::max(all.peak, all.held);
    }
    if (listener()) listener()();
    return {data, data, &give_back, c10::Device(c10::DeviceType::CPU)};
  }
  c10::DeleterFnPtr raw_deleter() const override { return &give_back; }
  void copy_data(void* to, const void* from, std::size_t bytes) const override {
    std::memcpy(to, from, bytes);
  }
};

}  // namespace

void install_meter() {
  static Meter* const only = [] {
    auto* const meter = new Meter;
    c10::SetCPUAllocator(meter);
    return meter;
  }();
  static_cast<void>(only);
}

void on_metered_allocation(std::function<void()> listen) { listener() = std::move(listen); }

std::int64_t metered_bytes() {
  const std::scoped_lock lock(books().mutex);
  return books().held;
}

std::int64_t metered_peak_bytes() {
  const std::scoped_lock lock(books().mutex);
  return books().peak;
}

void reset_metered_peak() {
  const std::scoped_lock lock(books().mutex);
  books().peak = books().held;
}

}  // namespace lowtide::torch_test
