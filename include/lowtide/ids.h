// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>

namespace lowtide {

/// A number that names one thing of one sort. Ids of different sorts do not mix, and a
/// default-made id names nothing.
template <class Tag>
struct Id {
  std::int32_t index = -1;

  constexpr bool valid() const { return index >= 0; }
  /// The place of this thing in a vector ordered by id. Requires: valid().
  constexpr std::size_t slot() const { return static_cast<std::size_t>(index); }
  friend constexpr auto operator<=>(const Id&, const Id&) = default;
};

using OpId = Id<struct OpTag>;
using StorageId = Id<struct StorageTag>;
using ValueId = Id<struct ValueTag>;
using TierId = Id<struct TierTag>;

template <class IdType>
constexpr IdType make_id(std::size_t slot) {
  return IdType{static_cast<std::int32_t>(slot)};
}

}  // namespace lowtide

template <class Tag>
struct std::hash<lowtide::Id<Tag>> {
  std::size_t operator()(lowtide::Id<Tag> id) const noexcept {
    return std::hash<std::int32_t>{}(id.index);
  }
};
