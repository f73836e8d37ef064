// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "plan/spread.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <vector>

#include "plan/schedule.h"

namespace lowtide::plan {
namespace {

constexpr TierId kFirst{0};
constexpr TierId kSecond{1};

struct Stay {
  Tick from = 0;
  Tick until = 0;
};

// When the values of each storage are in a tier, by a plan.
class Stays {
 public:
  Stays(const Trace& trace, const Plan& plan)
      : trace_(trace), schedule_(trace, plan), since_(trace.storages().size(), kHere) {
    of_storage.resize(trace.storages().size());
    for (const StartsIn& start : plan.starts) since_[start.storage.slot()] = 0;
    for (Tick tick = 0; tick <= schedule_.end(); ++tick) {
      const Schedule::At at = schedule_.at(tick);
      for (const std::int32_t i : at.waits) {
        end(std::get<Fetch>(plan.actions[static_cast<std::size_t>(i)]).value, tick);
      }
      for (const ValueId value : schedule_.lifetimes().deaths(tick)) {
        if (tick < schedule_.end()) end(value, tick);
      }
      for (const std::int32_t i : at.releases) {
        const Move* move = std::get_if<Move>(&plan.actions[static_cast<std::size_t>(i)]);
        if (move != nullptr) since_[trace.value(move->value).storage.slot()] = tick;
      }
    }
    for (std::size_t i = 0; i < since_.size(); ++i) {
      if (since_[i] != kHere) of_storage[i].push_back({since_[i], schedule_.end()});
    }
  }

  Tick end() const { return schedule_.end(); }
  std::int64_t ticks(std::size_t storage) const {
    return std::accumulate(
        of_storage[storage].begin(), of_storage[storage].end(), std::int64_t{0},
        [](std::int64_t sum, const Stay& stay) { return sum + stay.until - stay.from; });
  }

  std::vector<std::vector<Stay>> of_storage;

 private:
  static constexpr Tick kHere = -1;

  void end(ValueId value, Tick tick) {
    const std::size_t storage = trace_.value(value).storage.slot();
    if (since_[storage] == kHere) return;
    of_storage[storage].push_back({since_[storage], tick});
    since_[storage] = kHere;
  }

  const Trace& trace_;
  const Schedule schedule_;
  std::vector<Tick> since_;
};

// Bytes in a tier at every tick.
class Fill {
 public:
  explicit Fill(Tick end) : bytes_(static_cast<std::size_t>(end) + 1) {}
  void add(const std::vector<Stay>& stays, std::int64_t bytes) {
    for_each(stays, [bytes](std::int64_t& held) { held += bytes; });
  }
  std::int64_t most(const std::vector<Stay>& stays) {
    std::int64_t most = 0;
    for_each(stays, [&most](std::int64_t& held) { most = std::max(most, held); });
    return most;
  }
  std::int64_t peak() const { return *std::max_element(bytes_.begin(), bytes_.end()); }

 private:
  template <class Visit>
  void for_each(const std::vector<Stay>& stays, const Visit& visit) {
    for (const Stay& stay : stays) {
      for (Tick t = stay.from; t <= stay.until; ++t) visit(bytes_[static_cast<std::size_t>(t)]);
    }
  }
  std::vector<std::int64_t> bytes_;
};

// By storage: whether it goes to the second tier.
std::vector<bool> choose_deeper(const Problem& problem, const Stays& stays) {
  const std::vector<Storage>& storages = problem.trace->storages();
  std::vector<bool> is_deeper(storages.size(), false);
  Fill all(stays.end());
  for (std::size_t i = 0; i < storages.size(); ++i) all.add(stays.of_storage[i], storages[i].bytes);
  const std::int64_t capacity = problem.machine.tiers[0].capacity_bytes;
  if (all.peak() <= capacity) return is_deeper;

  std::vector<std::size_t> order(storages.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&stays](std::size_t a, std::size_t b) {
    return stays.ticks(a) < stays.ticks(b);
  });
  Fill first(stays.end());
  for (const std::size_t i : order) {
    const std::vector<Stay>& its = stays.of_storage[i];
    is_deeper[i] = first.most(its) + storages[i].bytes > capacity / 2;
    if (!is_deeper[i]) first.add(its, storages[i].bytes);
  }
  return is_deeper;
}

}  // namespace

Problem with_one_tier(Problem problem) {
  std::vector<Tier>& tiers = problem.machine.tiers;
  if (tiers.size() < 2) return problem;
  Tier& first = tiers.front();
  for (std::size_t i = 1; i < tiers.size(); ++i) {
    const std::int64_t left =
        std::numeric_limits<std::int64_t>::max() - std::max<std::int64_t>(first.capacity_bytes, 0);
    first.capacity_bytes += std::min(left, tiers[i].capacity_bytes);
    first.write_bytes_per_second =
        std::min(first.write_bytes_per_second, tiers[i].write_bytes_per_second);
    first.read_bytes_per_second =
        std::min(first.read_bytes_per_second, tiers[i].read_bytes_per_second);
    first.latency_seconds = std::max(first.latency_seconds, tiers[i].latency_seconds);
  }
  tiers.resize(1);
  return problem;
}

Plan spread_over_tiers(const Problem& problem, Plan plan) {
  if (problem.machine.tiers.size() < 2) return plan;
  const Stays stays(*problem.trace, plan);
  const std::vector<bool> is_deeper = choose_deeper(problem, stays);
  const auto tier_of = [&](StorageId storage) {
    return is_deeper[storage.slot()] ? kSecond : kFirst;
  };
  for (StartsIn& start : plan.starts) start.tier = tier_of(start.storage);
  for (Action& action : plan.actions) {
    if (Move* move = std::get_if<Move>(&action)) {
      move->tier = tier_of(problem.trace->value(move->value).storage);
    }
  }
  return plan;
}

}  // namespace lowtide::plan
