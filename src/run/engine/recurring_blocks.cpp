// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "run/engine/recurring_blocks.h"

#include <utility>

namespace lowtide::engine {

void RecurringBlocks::note(std::int64_t what) {
  if (lives_.size() == kMostBlocks) return;
  digest_so_far_.add(what);
  ++now_;
}

RecurringBlocks::Birth RecurringBlocks::born(std::int64_t units) {
  const Birth birth = {step_, lives_.size()};
  if (lives_.size() < kMostBlocks) lives_.push_back({.units = units, .begin = now_});
  note(units << 2);
  return birth;
}

void RecurringBlocks::died(const Birth& birth) {
  const auto number = static_cast<std::int64_t>(birth.number);
  if (birth.step == step_) {
    if (birth.number < lives_.size()) lives_[birth.number].end = now_;
    note(number << 2 | 1);
  } else if (birth.step + 1 == step_) {
    if (birth.number < last_lives_.size()) last_lives_[birth.number].end_in_next = now_;
    note(number << 2 | 2);
  } else {
    note(3);
  }
}

void RecurringBlocks::end_step() {
  is_repeated_ = digest_so_far_.value() == digest_ && lives_.size() == last_lives_.size() &&
                 lives_.size() < kMostBlocks;
  digest_ = std::exchange(digest_so_far_, {}).value();
  blocks_ = known_blocks();
  last_lives_ = std::exchange(lives_, {});
  now_ = 0;
  ++step_;
}

std::vector<RecurringBlock> RecurringBlocks::known_blocks() const {
  std::vector<RecurringBlock> blocks;
  for (std::size_t i = 0; i < lives_.size(); ++i) {
    const Life& life = lives_[i];
    int end = life.end;
    if (end < 0 && is_repeated_) end = last_lives_[i].end_in_next;
    // It would meet itself.
    if (life.end < 0 && end > life.begin) end = -1;
    blocks.push_back({life.units, life.begin, end});
  }
  return blocks;
}

bool RecurringBlocks::recurs(const Birth& birth) const {
  return birth.step + 1 == step_ && birth.number < blocks_.size() &&
         blocks_[birth.number].is_known();
}

}  // namespace lowtide::engine
