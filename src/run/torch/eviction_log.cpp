// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "run/torch/eviction_log.h"

#include <algorithm>
#include <utility>

namespace lowtide::run {

using plan::OnlineDeed;
using Kind = OnlineDeed::Kind;

void EvictionLog::on_choice(const Value& value, const plan::EvictionPrice& price) {
  chosen_ = &value;
  price_ = price;
  had_copy_ = !value.copy.is_empty();
}

// What a plan had begun to move goes without a choice.
plan::EvictionPrice EvictionLog::price_of(const Value& value) {
  return std::exchange(chosen_, nullptr) == &value ? price_ : plan::EvictionPrice{};
}

void EvictionLog::on_event(ValueEvent event, const Value& value) {
  if (event == ValueEvent::kWanted) wanted_ = value.place;
  if (event == ValueEvent::kReplayed) add_replay(value);
  if (value.place == nullptr) return;
  if (event == ValueEvent::kDropped) {
    add(*value.place, {.kind = Kind::kDrop, .price = price_of(value)});
  } else if (event == ValueEvent::kGoesToHost) {
    const bool is_copied = chosen_ != &value || !had_copy_;
    add(*value.place, {.kind = Kind::kMove, .price = price_of(value), .is_copied = is_copied});
  } else if (event == ValueEvent::kFetched) {
    add(*value.place, {.kind = Kind::kFetch});
  }
}

void EvictionLog::add_replay(const Value& value) {
  const Cell* cell = value.place != nullptr ? value.place : wanted_;
  if (cell == nullptr || !value.producer) return;
  add(*cell, {.kind = Kind::kReplay, .seconds = value.producer->seconds});
}

void EvictionLog::add(const Cell& cell, OnlineDeed deed) {
  deed.op = OpId{ops_};
  if (const auto found = numbers_.find(&cell); found != numbers_.end()) {
    deed.storage = found->second;
  } else {
    unnumbered_[&cell].push_back(deeds_.size());
  }
  deeds_.push_back(deed);
}

void EvictionLog::on_numbered(const Cell& cell, StorageId storage) {
  numbers_.emplace(&cell, storage);
  const auto found = unnumbered_.find(&cell);
  if (found == unnumbered_.end()) return;
  for (const std::size_t place : found->second) deeds_[place].storage = storage;
  unnumbered_.erase(found);
}

// Another storage may get its cell's address.
void EvictionLog::on_buried(const Cell& cell) {
  numbers_.erase(&cell);
  unnumbered_.erase(&cell);
  if (wanted_ == &cell) wanted_ = nullptr;
}

void EvictionLog::on_unused(const Cell& cell, std::size_t number) {
  std::vector<std::size_t> places;
  if (const auto found = unnumbered_.find(&cell); found != unnumbered_.end()) {
    places = std::move(found->second);
  }
  if (places.empty() && !cell.value->is_resident()) {
    places.push_back(deeds_.size());
    deeds_.push_back({.kind = Kind::kAway, .op = OpId{0}});
  }
  unused_.resize(number + 1);
  unused_[number] = std::move(places);
}

std::vector<OnlineDeed> EvictionLog::deeds(std::size_t first_unused) const {
  std::vector<OnlineDeed> all = deeds_;
  for (std::size_t i = 0; i < unused_.size(); ++i) {
    for (const std::size_t place : unused_[i]) {
      all[place].storage = make_id<StorageId>(first_unused + i);
    }
  }
  std::erase_if(all, [](const OnlineDeed& deed) { return !deed.storage.valid(); });
  std::stable_sort(all.begin(), all.end(), [](const OnlineDeed& one, const OnlineDeed& other) {
    return one.op.index < other.op.index;
  });
  return all;
}

}  // namespace lowtide::run
