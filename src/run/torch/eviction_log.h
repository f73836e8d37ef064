// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include "plan/online_deed.h"
#include "run/torch/books.h"

namespace lowtide::run {

// Writes down what the online rule does with the storages of one step, beside its ops (see
// Capture). All of it happens under the books' lock.
class EvictionLog final : public Witness {
 public:
  void on_event(ValueEvent event, const Value& value) override;
  void on_choice(const Value& value, const plan::EvictionPrice& price) override;

  void op_ended() { ++ops_; }
  // The storage has this number among those of the step. What was done with it before counts too.
  void on_numbered(const Cell& cell, StorageId storage);
  void on_buried(const Cell& cell);
  // It died in the step, which did not use it: so many had done so before.
  void on_unused(const Cell& cell, std::size_t number);

  // In order of their ops. Those that died unused are numbered from `first_unused` on; what is
  // neither of these nor has a number is left out.
  std::vector<plan::OnlineDeed> deeds(std::size_t first_unused) const;

 private:
  void add(const Cell& cell, plan::OnlineDeed deed);
  void add_replay(const Value& value);
  plan::EvictionPrice price_of(const Value& value);

  std::int32_t ops_ = 0;
  std::vector<plan::OnlineDeed> deeds_;
  std::unordered_map<const Cell*, StorageId> numbers_;
  // Places among the deeds of storages that have no number yet.
  std::unordered_map<const Cell*, std::vector<std::size_t>> unnumbered_;
  // By their numbers, the same.
  std::vector<std::vector<std::size_t>> unused_;
  // The eviction that was chosen last, until it is done.
  const Value* chosen_ = nullptr;
  plan::EvictionPrice price_;
  bool had_copy_ = false;
  // What is being brought back; null: its storage has died.
  const Cell* wanted_ = nullptr;
};

}  // namespace lowtide::run
