// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>

#include "lowtide/ids.h"

namespace lowtide::plan {

// What the running half's online rule takes being without a value to cost; nothing where there is
// no such way.
struct EvictionPrice {
  std::optional<double> drop_seconds{};
  std::optional<double> move_seconds{};
  // How much work was done since its last use.
  double unused_seconds = 0;
  // Not of what went without a choice of the rule: what a plan had begun to move.
  bool is_known() const { return drop_seconds || move_seconds; }
  friend bool operator==(const EvictionPrice&, const EvictionPrice&) = default;
};

// What that rule did with a storage in a step that was written down.
struct OnlineDeed {
  // kAway: it lay outside from the beginning of the step until the program released it.
  enum class Kind : std::uint8_t { kDrop, kMove, kFetch, kReplay, kAway };

  Kind kind = Kind::kDrop;
  StorageId storage{};
  // The op under way, or the one after the step's last: as many had ended.
  OpId op{};
  // Of drops and moves.
  EvictionPrice price{};
  // Of a move: no copy of it lay outside of the device already.
  bool is_copied = false;
  // Of a replay: how long its op takes. An op for what the program has released is on the account
  // of the storage that it is needed for.
  double seconds = 0;
  friend bool operator==(const OnlineDeed&, const OnlineDeed&) = default;
};

}  // namespace lowtide::plan
