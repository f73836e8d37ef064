// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "plan/online_deed.h"
#include "report/study.h"

namespace lowtide::report {

// What became of one storage, and the figures that say why: under a plan by the simulator, or in
// the run itself where the online rule decided and the record has what it did.
struct StorageStory {
  // kDropped: by the online rule, and nothing asked for it again.
  enum class Fate : std::uint8_t { kKept, kMoved, kRecomputed, kBoth, kEncoded, kDropped };

  StorageId storage;
  std::string place;
  std::int64_t bytes = 0;
  Fate fate = Fate::kKept;
  std::int64_t moves = 0;
  std::int64_t fetches = 0;
  std::int64_t drops = 0;
  // How often ops ran again to make what it holds, and how long that took.
  std::int64_t replays = 0;
  double replay_seconds = 0;
  // The copies as they ran, both ways, and how long the device stood still for them.
  double copy_seconds = 0;
  double exposed_seconds = 0;
  // The longest time between two uses in the plain step, and the ops that it lies between.
  double idle_seconds = 0;
  OpId idle_after;
  OpId idle_until;
  // What either way of being without it meanwhile takes: out and back over the link to the first
  // tier with nothing else on it; the ops that would have to run again, given what the plan leaves
  // on the device. Nothing where there is no such way.
  std::optional<double> transfer_seconds;
  std::optional<double> recompute_seconds;
  // What the online rule went by when it first chose it; nothing where a plan had begun to move it.
  std::optional<plan::EvictionPrice> price;
  // In words, with these figures.
  std::string reason;
};

std::string_view to_string(StorageStory::Fate fate);

// At most so many: first those that something was done with, then those that lie idle at some
// time, then the others; the largest of each first.
std::vector<StorageStory> tell_storages(const Study& study, std::size_t most);

}  // namespace lowtide::report
