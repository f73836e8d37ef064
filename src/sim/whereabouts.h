// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "lowtide/ids.h"
#include "sim/device_memory.h"
#include "sim/links.h"

namespace lowtide::sim {

// Where one value is and which bytes that takes.
struct Whereabouts {
  enum class OnDevice : std::uint8_t { kAbsent, kRaw, kEncoded, kIncoming };

  OnDevice on_device = OnDevice::kAbsent;
  Piece raw;
  Piece encoded;
  // Of the encoded form, on the device or in the tier; null when there is none.
  const CodecOption* codec = nullptr;

  // Not valid without a copy in a tier.
  TierId tier;
  std::int64_t tier_bytes = 0;
  // What must end before the copy in the tier is complete: a move, or an op on the host.
  Links::CopyId arrival = Links::kNone;
  // While incoming: the copy that brings it.
  Links::CopyId fetch = Links::kNone;

  bool is_raw() const { return on_device == OnDevice::kRaw; }
  bool is_nowhere() const { return on_device == OnDevice::kAbsent && !tier.valid(); }
  // In host memory, as it is.
  bool lies_plain_on_host() const { return tier == TierId{0} && codec == nullptr; }
};

}  // namespace lowtide::sim
