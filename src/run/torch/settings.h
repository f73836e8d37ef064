// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>

#include <ATen/Context.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

namespace lowtide::run {

// Which backend's precisions an op obeys, if any.
enum class PrecisionsOf : std::uint8_t { kNone, kCpu, kCuda };

// How exactly a backend computes with 32 bits and sums up 16.
struct Precisions {
  PrecisionsOf backend = PrecisionsOf::kNone;
  // Of matrix products, convolutions and recurrent layers.
  std::array<at::Float32Precision, 3> float32{};
  // What torch::Context calls reductions of float16 and bfloat16, as numbers.
  std::uint8_t float16_reduction = 0;
  std::uint8_t bfloat16_reduction = 0;
  bool float16_accumulation = false;
  bool attention_reduces_in_16_bits = false;

  friend bool operator==(const Precisions&, const Precisions&) = default;
};

// What besides its arguments decides on the bits that an op yields: switches of the process and of
// the thread. A replay runs under those of the first run.
struct Settings {
  std::uint64_t included_keys = 0;
  std::uint64_t excluded_keys = 0;
  std::int32_t threads = 0;
  std::int16_t cpu_autocast_type = 0;
  std::int16_t cuda_autocast_type = 0;
  // Of what integers give where they are divided, say.
  std::int16_t default_type = 0;
  std::uint16_t switches = 0;
  // Looked up only for ops that obey them, since that takes a while.
  Precisions precisions;

  friend bool operator==(const Settings&, const Settings&) = default;

  static Settings now(PrecisionsOf backend);
};

using SettingsP = std::shared_ptr<const Settings>;

// The settings now; the same pointer as last time on this thread if nothing has changed.
SettingsP current_settings(PrecisionsOf backend);

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
  // Precisions of `before_` that follow others and were changed.
  std::array<bool, 3> are_inherited_{};
  // Torch's older switch for matrix products, where it had to be changed too.
  std::optional<at::Float32MatmulPrecision> older_before_;
};

}  // namespace lowtide::run
