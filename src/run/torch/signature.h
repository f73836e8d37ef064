// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include <c10/util/ArrayRef.h>

#include "run/torch/effects.h"

// Which kind of op it is, as far as time and memory go: operator and sizes of its tensors.

namespace lowtide::run {

inline std::uint64_t signature_of(const OpEffects& effects) {
  return reinterpret_cast<std::uintptr_t>(&effects);
}

inline std::uint64_t with_sizes(std::uint64_t signature, c10::IntArrayRef sizes) {
  for (const std::int64_t size : sizes) {
    signature =
        (signature ^ static_cast<std::uint64_t>(size)) * 0x9E3779B97F4A7C15ULL + (signature >> 29);
  }
  return signature;
}

}  // namespace lowtide::run
