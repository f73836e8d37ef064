// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "policy/hybrid/tide_polish.h"

#include <algorithm>
#include <array>
#include <limits>
#include <unordered_map>
#include <utility>

#include "lowtide/simulate.h"
#include "policy/hybrid/kept_spans.h"
#include "policy/hybrid/spans_plan.h"
#include "policy/hybrid/swap_variation.h"
#include "policy/hybrid/tide_refine.h"
#include "sim/simulation.h"

namespace lowtide::policy {

using trace::Tick;

namespace {

// In each round the seeds that came furthest so far share a part of the work. Of those that swap
// the swaps may be varied instead.
struct Round {
  std::size_t seeds;
  double work_share;
  bool varies_swaps = false;
};
constexpr std::array<Round, 3> kRounds{{{100, 0.25}, {3, 0.25}, {1, 0.5, true}}};

// So many other sets of swaps are tried, one after another: fewer in a longer step, since each has
// to be set up and simulated.
constexpr std::size_t kMostVariations = 32;
constexpr std::size_t kOpsOfAllVariations = 50'000;

// Whether spans can say what the plan does.
bool can_follow(const Plan& plan) {
  if (!plan.starts.empty()) return false;
  std::unordered_map<ValueId, std::pair<int, int>> moves_and_fetches;
  for (const Action& action : plan.actions) {
    if (const auto* move = std::get_if<Move>(&action)) {
      if (!move->codec.empty()) return false;
      ++moves_and_fetches[move->value].first;
    } else if (const auto* fetch = std::get_if<Fetch>(&action)) {
      ++moves_and_fetches[fetch->value].second;
    } else if (!std::holds_alternative<Drop>(action) && !std::holds_alternative<Hold>(action) &&
               !std::holds_alternative<Run>(action)) {
      return false;
    }
  }
  return std::all_of(moves_and_fetches.begin(), moves_and_fetches.end(),
                     [](const auto& entry) { return entry.second == std::pair(1, 1); });
}

}  // namespace

struct TidePolisher::Seed {
  Seed(const TideStep& step, const SwapWishes& swap_wishes, double share,
       const std::vector<AwayValue>& away, std::uint64_t random_seed)
      : wishes(swap_wishes),
        host_share(share),
        spans(step, share, away),
        refiner(step, spans, random_seed) {}

  SwapWishes wishes;
  double host_share;
  double coverage_power = 0.5;
  KeptSpans spans;
  TideRefiner refiner;
  double best_seconds = std::numeric_limits<double>::infinity();
};

TidePolisher::TidePolisher(const Problem& problem, const TideStep& step, std::uint64_t seed)
    : problem_(problem), step_(step), random_(seed), digest_(digest(*problem.trace)) {}

TidePolisher::~TidePolisher() = default;

// What a plan moves, with when it has left by the simulator.
std::vector<AwayValue> TidePolisher::away_values(const Plan& plan) const {
  std::unordered_map<ValueId, AwayValue> by_value;
  for (const Action& action : plan.actions) {
    if (const auto* move = std::get_if<Move>(&action)) {
      AwayValue& away = by_value[move->value];
      away.value = move->value;
      away.tier = move->tier;
      away.after = step_.lifetimes.tick_of(move->after);
    } else if (const auto* fetch = std::get_if<Fetch>(&action)) {
      AwayValue& away = by_value[fetch->value];
      away.issue = step_.lifetimes.tick_of(fetch->issue_before);
      away.need = step_.lifetimes.tick_of(fetch->needed_by);
    }
  }
  std::vector<AwayValue> away;
  if (by_value.empty()) return away;
  for (const Departure& departure : simulate(problem_, plan).departures) {
    away.push_back(by_value[departure.value]);
    away.back().left = step_.lifetimes.tick_of(departure.op);
  }
  return away;
}

void TidePolisher::add_plan(const Plan& plan, const SwapWishes& wishes, double host_share) {
  if (!can_follow(plan)) return;
  seeds_.push_back(
      std::make_unique<Seed>(step_, wishes, host_share, away_values(plan), random_.next()));
  follow_plan(step_, plan, seeds_.back()->spans);
}

// What is swapped by those wishes, with when it will have left.
std::vector<AwayValue> TidePolisher::planned_away(const SwapWishes& wishes) const {
  std::vector<SwapDecision> swaps = choose_swaps(step_, wishes);
  std::stable_sort(swaps.begin(), swaps.end(),
                   [](const SwapDecision& a, const SwapDecision& b) { return a.after < b.after; });
  std::vector<AwayValue> away;
  double lane_free_seconds = 0;
  for (const SwapDecision& swap : swaps) {
    lane_free_seconds = std::max(lane_free_seconds, step_.clock.end(swap.after)) +
                        cost::write_seconds(problem_.machine.tier(swap.tier),
                                            step_.trace.storage_of(swap.value).bytes);
    const Tick left = step_.clock.first_starting_from(lane_free_seconds) - 1;
    away.push_back({swap.value, swap.tier, swap.after, left, swap.issue, swap.need});
  }
  return away;
}

void TidePolisher::add_swaps(const SwapWishes& wishes, double host_share, double coverage_power) {
  seeds_.push_back(
      std::make_unique<Seed>(step_, wishes, host_share, planned_away(wishes), random_.next()));
  seeds_.back()->coverage_power = coverage_power;
}

bool TidePolisher::make_fit(Seed& seed, std::int64_t work) {
  return seed.spans.is_possible() && seed.refiner.make_fit(work, seed.coverage_power);
}

std::optional<TimedPlan> TidePolisher::polish(std::optional<TimedPlan> best, std::int64_t work) {
  const std::int64_t work_to_fit = work / static_cast<std::int64_t>(2 * seeds_.size() + 1);
  const auto fits = [&](const std::unique_ptr<Seed>& seed) {
    return !problem_.is_stopped() && make_fit(*seed, work_to_fit);
  };
  seeds_.erase(std::stable_partition(seeds_.begin(), seeds_.end(), fits), seeds_.end());
  for (const Round& round : kRounds) {
    std::stable_sort(seeds_.begin(), seeds_.end(), [](const auto& a, const auto& b) {
      return a->best_seconds < b->best_seconds;
    });
    seeds_.resize(std::min(seeds_.size(), round.seeds));
    for (std::unique_ptr<Seed>& seed : seeds_) {
      if (problem_.is_stopped()) return best;
      const double share = round.work_share / static_cast<double>(seeds_.size());
      const auto seed_work = static_cast<std::int64_t>(share * static_cast<double>(work));
      if (round.varies_swaps) {
        vary_swaps(seed, seed_work, best);
      } else {
        refine(*seed, seed_work, best);
      }
    }
  }
  return best;
}

void TidePolisher::vary_swaps(std::unique_ptr<Seed>& seed, std::int64_t work,
                              std::optional<TimedPlan>& best) {
  const std::size_t variations =
      std::min(kMostVariations, kOpsOfAllVariations / (step_.trace.ops().size() + 1));
  if (variations == 0 || seed->wishes.link_share <= 0) return refine(*seed, work, best);
  const std::int64_t share = work / static_cast<std::int64_t>(variations);
  for (std::size_t i = 0; i < variations && !problem_.is_stopped(); ++i) {
    const SwapWishes wishes = vary_wishes(step_, seed->spans, seed->wishes, random_);
    auto other = std::make_unique<Seed>(step_, wishes, seed->host_share, planned_away(wishes),
                                        random_.next());
    follow_spans(step_, seed->spans, other->spans);
    if (!make_fit(*other, share)) continue;
    refine(*other, share, best);
    if (other->best_seconds < seed->best_seconds) seed = std::move(other);
  }
}

void TidePolisher::refine(Seed& seed, std::int64_t work, std::optional<TimedPlan>& best) {
  seed.refiner.refine(work, [&] {
    const std::size_t changes = seed.spans.changes();
    seed.refiner.keep_needless_moves();
    Plan plan;
    plan.policy = "tide";
    plan.trace_digest = digest_;
    plan.budget_bytes = problem_.budget_bytes;
    plan.actions = actions_of(step_, seed.spans);
    seed.spans.undo_to(changes);
    if (!verify(problem_, plan).ok()) return;
    const double seconds = sim::simulated_seconds(problem_, plan);
    seed.best_seconds = std::min(seed.best_seconds, seconds);
    if (!best || seconds < best->seconds) best = TimedPlan{std::move(plan), seconds};
  });
}

}  // namespace lowtide::policy
