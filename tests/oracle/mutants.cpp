// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "mutants.h"

#include <algorithm>
#include <numeric>
#include <type_traits>
#include <utility>

#include "base/random.h"

namespace lowtide::oracle {
namespace {

// The positions that an action names.
std::vector<OpId*> positions(Action& action) {
  return std::visit(
      [](auto& a) -> std::vector<OpId*> {
        using A = std::decay_t<decltype(a)>;
        if constexpr (std::is_same_v<A, Drop> || std::is_same_v<A, Choose>) return {&a.op};
        if constexpr (std::is_same_v<A, Hold>) return {&a.from, &a.until};
        if constexpr (std::is_same_v<A, Run>) return {&a.op, &a.before};
        if constexpr (std::is_same_v<A, Move> || std::is_same_v<A, Encode>) return {&a.after};
        if constexpr (std::is_same_v<A, Fetch>) return {&a.issue_before, &a.needed_by};
        if constexpr (std::is_same_v<A, Decode>) return {&a.before};
        return {};
      },
      action);
}

class Breaker {
 public:
  explicit Breaker(const Plan& plan) : plan_(plan) {}

  std::vector<Mutant> all() {
    for (std::size_t i = 0; i < plan_.starts.size(); ++i) {
      Plan& copy = add("without start ", i);
      copy.starts.erase(copy.starts.begin() + static_cast<std::ptrdiff_t>(i));
    }
    for (std::size_t i = 0; i < plan_.actions.size(); ++i) {
      const auto offset = static_cast<std::ptrdiff_t>(i);
      Plan& shorter = add("without action ", i);
      shorter.actions.erase(shorter.actions.begin() + offset);
      Plan& doubled = add("with two of action ", i);
      doubled.actions.insert(doubled.actions.begin() + offset, plan_.actions[i]);
      add("with another at the end of action ", i).actions.push_back(plan_.actions[i]);
      if (i > 0) {
        Plan& swapped = add("swapped with the one before: action ", i);
        std::swap(swapped.actions[i - 1], swapped.actions[i]);
      }
      shift(i);
    }
    return std::move(mutants_);
  }

 private:
  Plan& add(const char* how, std::size_t index) {
    mutants_.push_back({how + std::to_string(index), plan_});
    return mutants_.back().plan;
  }

  void shift(std::size_t i) {
    Action probe = plan_.actions[i];
    const std::size_t count = positions(probe).size();
    for (std::size_t position = 0; position < count; ++position) {
      --positions(add("earlier: action ", i).actions[i])[position]->index;
      ++positions(add("later: action ", i).actions[i])[position]->index;
    }
    if (const auto* drop = std::get_if<Drop>(&plan_.actions[i])) {
      const bool is_after = drop->side == Drop::Side::kAfter;
      std::get<Drop>(add("other side: action ", i).actions[i]).side =
          is_after ? Drop::Side::kBefore : Drop::Side::kAfter;
    }
  }

  const Plan& plan_;
  std::vector<Mutant> mutants_;
};

class Embellisher {
 public:
  Embellisher(const Problem& problem, std::uint64_t seed)
      : problem_(problem), trace_(*problem.trace), random_(seed) {}

  void embellish(Plan& plan) {
    plan_ = &plan;
    switch (random_.below(10)) {
      case 0:
        return insert(Drop{value(), op(), chance(50) ? Drop::Side::kAfter : Drop::Side::kBefore});
      case 1:
        return insert(Run{op(), position()});
      case 2:
      case 3:
        return hold();
      case 4:
      case 5:
        return move_and_fetch();
      case 6:
        return encode_and_decode();
      case 7:
        return choose();
      case 8:
        return place();
      default:
        return start();
    }
  }

 private:
  bool chance(std::uint64_t percent) { return random_.below(100) < percent; }
  ValueId value() { return make_id<ValueId>(random_.below(trace_.values().size())); }
  OpId op() { return make_id<OpId>(random_.below(trace_.ops().size())); }
  OpId position() { return make_id<OpId>(random_.below(trace_.ops().size() + 1)); }
  TierId tier() { return make_id<TierId>(random_.below(problem_.machine.tiers.size())); }

  void insert(Action action) {
    const std::uint64_t place = random_.below(plan_->actions.size() + 1);
    plan_->actions.insert(plan_->actions.begin() + static_cast<std::ptrdiff_t>(place),
                          std::move(action));
  }

  // Two positions, mostly in order.
  std::pair<OpId, OpId> span() {
    OpId first = op();
    OpId last = position();
    if (last < first && chance(90)) std::swap(first, last);
    return {std::min(first, make_id<OpId>(trace_.ops().size() - 1)), last};
  }

  void hold() {
    const auto [first, last] = span();
    insert(Hold{value(), last, chance(30) ? OpId{0} : first});
  }

  // A value, mostly one with codecs, and the name of one of them; empty if it has none.
  std::pair<ValueId, std::string> value_with_codec() {
    ValueId found = value();
    for (int tries = 0; tries < 5 && trace_.storage_of(found).codecs.empty(); ++tries) {
      found = value();
    }
    const std::vector<CodecOption>& codecs = trace_.storage_of(found).codecs;
    return {found, codecs.empty() ? "" : codecs.front().name};
  }

  void move_and_fetch() {
    const auto [first, last] = span();
    const auto [moved, codec] = value_with_codec();
    const OpId issue = chance(60) ? last : std::min(last, OpId{first.index + 1});
    insert(Move{moved, tier(), first, chance(50) ? codec : ""});
    if (chance(90)) insert(Fetch{moved, issue, last});
  }

  void encode_and_decode() {
    const auto [first, last] = span();
    const auto [encoded, codec] = value_with_codec();
    insert(Encode{encoded, codec, first});
    if (chance(90)) insert(Decode{encoded, last});
  }

  void choose() {
    OpId chosen = op();
    for (int tries = 0; tries < 10 && trace_.op(chosen).options.empty(); ++tries) chosen = op();
    insert(Choose{chosen, 0});
  }

  void place() {
    const std::uint64_t places = 1 + random_.below(4);
    for (std::uint64_t i = 0; i < places; ++i) {
      Place placed{value(), std::nullopt, std::nullopt};
      if (chance(10)) {
        placed.pool = 0;
      } else {
        const auto bound = static_cast<std::uint64_t>(problem_.budget_bytes) + 1;
        placed.offset_bytes = static_cast<std::int64_t>(random_.below(bound));
      }
      insert(placed);
    }
  }

  // Starts in a tier and, so that the step may end there as well, moves back to it.
  void start() {
    const auto storage = make_id<StorageId>(random_.below(trace_.storages().size()));
    const TierId where = tier();
    plan_->starts.push_back({storage, where});
    const std::span<const ValueId> versions = trace_.versions(storage);
    if (versions.empty()) return;
    const OpId needed = op();
    if (chance(80)) insert(Fetch{versions.front(), std::min(needed, op()), needed});
    if (chance(80)) insert(Move{versions.back(), where, op(), ""});
  }

  const Problem& problem_;
  const Trace& trace_;
  base::Random random_;
  Plan* plan_ = nullptr;
};

}  // namespace

std::vector<Mutant> broken(const Plan& plan) { return Breaker(plan).all(); }

std::vector<Mutant> reordered(const Trace& trace, const Plan& plan) {
  std::vector<Mutant> mutants;
  for (std::size_t i = 1; i < trace.ops().size(); ++i) {
    Order order;
    for (std::size_t j = 0; j < trace.ops().size(); ++j) {
      order.sequence.push_back(make_id<OpId>(j));
    }
    std::swap(order.sequence[i - 1], order.sequence[i]);
    mutants.push_back({"swapped with the one before: op " + std::to_string(i), plan});
    mutants.back().plan.actions.emplace_back(std::move(order));
  }
  return mutants;
}

std::vector<Mutant> embellished(const Problem& problem, const Plan& plan, std::uint64_t seed,
                                int count) {
  std::vector<Mutant> mutants;
  Embellisher embellisher(problem, seed);
  for (int i = 0; i < count; ++i) {
    mutants.push_back({"embellished " + std::to_string(i), plan});
    embellisher.embellish(mutants.back().plan);
    if (i % 2 == 1) embellisher.embellish(mutants.back().plan);
  }
  return mutants;
}

}  // namespace lowtide::oracle
