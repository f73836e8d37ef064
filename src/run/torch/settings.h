// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>

#include <ATen/Context.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

namespace lowtide::run {

// What besides its arguments decides on the bits that an op yields: switches of the process and of
// the thread. A replay runs under those of the first run.
struct Settings {
  std::uint64_t included_keys = 0;
  std::uint64_t excluded_keys = 0;
  std::int32_t threads = 0;
  std::int16_t cpu_autocast_type = 0;
  std::int16_t cuda_autocast_type = 0;
  std::uint16_t switches = 0;
  at::Float32Precision cuda_matmul_precision{};
  at::Float32Precision cuda_conv_precision{};
  at::Float32Precision mkldnn_matmul_precision{};
  bool has_precisions = false;

  friend bool operator==(const Settings&, const Settings&) = default;

  // The precisions are looked up only for ops that obey them, since that takes a while.
  static Settings now(bool with_precisions);
};

using SettingsP = std::shared_ptr<const Settings>;

// The settings now; the same pointer as last time on this thread if nothing has changed.
SettingsP current_settings(bool with_precisions);

// Puts settings in force, without the interceptor's key, until it goes out of scope.
class SettingsGuard {
 public:
  explicit SettingsGuard(const Settings& settings);
  ~SettingsGuard();
  SettingsGuard(const SettingsGuard&) = delete;
  SettingsGuard& operator=(const SettingsGuard&) = delete;

 private:
  Settings before_;
  bool differs_;
};

}  // namespace lowtide::run
