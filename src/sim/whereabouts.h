// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "lowtide/ids.h"
#include "lowtide/trace.h"
#include "sim/allocator_model.h"
#include "sim/links.h"

namespace lowtide::sim {

// Where one value is, and what of it never changes. A step looks up several of these for every op,
// most of them long after it did so last, so each is kept within one line of the cache and what few
// values have is kept elsewhere.
struct alignas(32) Whereabouts {
  enum class OnDevice : std::uint8_t { kAbsent, kRaw, kEncoded, kIncoming };

  // Bytes and kind of its storage.
  std::int64_t bytes = 0;
  // The value before it in its storage; not valid for the first.
  ValueId previous;
  // The block of the raw form on the device.
  AllocatorModel::Handle raw = AllocatorModel::kNothing;
  // Not valid without a copy in a tier.
  TierId tier;
  // What must end before the copy in the tier is complete: a move, or an op on the host.
  Links::CopyId arrival = Links::kNone;
  // While incoming: the copy that brings it.
  Links::CopyId fetch = Links::kNone;
  StorageKind kind = StorageKind::kTemporary;
  OnDevice on_device = OnDevice::kAbsent;
  // There is an encoded form, on the device or in the tier.
  bool has_codec = false;

  bool is_raw() const { return on_device == OnDevice::kRaw; }
  bool is_nowhere() const { return on_device == OnDevice::kAbsent && !tier.valid(); }
  // In host memory, as it is.
  bool lies_plain_on_host() const { return tier == TierId{0} && !has_codec; }
};
static_assert(sizeof(Whereabouts) == 32);

}  // namespace lowtide::sim
