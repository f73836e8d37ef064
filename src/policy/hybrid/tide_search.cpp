// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "policy/hybrid/tide_search.h"

#include <algorithm>
#include <array>
#include <limits>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/random.h"
#include "policy/hybrid/small_step.h"
#include "policy/hybrid/tide_polish.h"
#include "policy/hybrid/tide_run.h"
#include "policy/hybrid/tide_step.h"
#include "policy/hybrid/tide_swaps.h"
#include "sim/simulation.h"

namespace lowtide::policy {
namespace {

using trace::Tick;

// Plans are made and compared on links that are slower than the machine's: copies that only just
// hide in the simulator do not on a real machine.
constexpr double kLinkSpeed = 0.9;
// How often swaps are planned again because replays want their values earlier.
constexpr int kSwapRounds = 8;
constexpr int kPatientRounds = 2;
constexpr std::int64_t kLeastTries = 3;
constexpr std::int64_t kMostTries = 1500;
// The polish takes about as much time as the tries; there is less to find in a short step.
constexpr double kMostWorkPerTry = 2.5e5;
constexpr double kWorkPerOp = 300;
// Of the search through all replays of a short step.
constexpr std::size_t kMostStates = 30'000;
// Seeds of a longer step take more time and memory to set up than they are worth.
constexpr std::size_t kMostOpsForSwapSeeds = 20000;
constexpr double kNoLimit = std::numeric_limits<double>::infinity();

// What one try decides by.
struct Guess {
  TideWeights weights;
  SwapWishes wishes;
};

struct Outcome {
  Guess guess;
  Plan plan;
  double seconds = 0;
  // By value: whether it is dropped, or moved if it cannot be dropped.
  std::vector<bool> leaves;
};

Problem with_slower_links(Problem problem) {
  for (Tier& tier : problem.machine.tiers) {
    tier.read_bytes_per_second *= kLinkSpeed;
    tier.write_bytes_per_second *= kLinkSpeed;
  }
  return problem;
}

class Search {
 public:
  Search(const Problem& problem, const TideOptions& options)
      : cautious_(with_slower_links(problem)),
        step_(cautious_),
        random_(options.seed),
        seed_(options.seed) {
    first_.weights.may_replay = options.may_recompute;
    if (!options.may_swap || problem.machine.tiers.empty()) first_.wishes.link_share = 0;
    if (step_.is_host_bound()) first_.weights.host_share = 1;
    const auto ops = static_cast<double>(problem.trace->ops().size());
    tries_ = std::clamp(static_cast<std::int64_t>(options.tries * 1000 / (ops + 1)), kLeastTries,
                        kMostTries);
    tries_left_ = tries_;
    work_ = static_cast<std::int64_t>(options.tries * std::min(kMostWorkPerTry, kWorkPerOp * ops));
    digest_ = digest(*problem.trace);
  }

  std::optional<Plan> best(const Plan* other) {
    if (find_first()) tune();
    if (best_) improve();
    std::optional<TimedPlan> polished = polish(other);
    if (first_.weights.may_replay) try_everything(polished);
    if (!polished) return std::nullopt;
    return std::move(polished->plan);
  }

  // Whether there is any plan; what comes after it only makes it better.
  bool find_first() {
    // More than a whole link: the copies show, but they may be the only way.
    for (const double crowding : {1.0, 0.6, 0.0, 3.0, 10.0, 100.0}) {
      for (const double horizon : {first_.weights.horizon, 0.3}) {
        for (const double shared : {first_.weights.shared, 1.0, 0.2}) {
          if (is_over()) return false;
          Guess guess = first_;
          guess.wishes.link_share *= crowding;
          guess.weights.horizon = horizon;
          guess.weights.shared = shared;
          attempt(std::move(guess));
          if (best_) return true;
        }
      }
      if (first_.wishes.link_share == 0) break;
    }
    tune();
    return best_.has_value();
  }

 private:
  // Whether no more runs are to be tried. One always is: there may be no other plan.
  bool is_over() const {
    return tries_left_ <= 0 || (tries_left_ < tries_ && step_.problem.is_stopped());
  }

  // The settings as a coarse grid: they do not work apart.
  void tune() {
    for (const double share : {1.0, 0.6, 0.0}) {
      for (const bool keep_dead : {false, true}) {
        for (const double horizon : {0.02, 0.1}) {
          for (const double shared : {0.1, 0.4, 0.7, 1.0}) {
            if (is_over()) return;
            Guess guess = first_;
            guess.wishes.link_share *= share;
            guess.weights.keep_dead = keep_dead;
            guess.weights.horizon = horizon;
            guess.weights.shared = shared;
            attempt(std::move(guess));
          }
        }
      }
      if (first_.wishes.link_share == 0) return;
    }
  }

  void improve() {
    if (is_over()) return;
    Guess other = best_->guess;
    other.weights.host_share = 1 - other.weights.host_share;
    attempt(std::move(other));
    group_values();
    if (groups_.empty()) return;
    while (!is_over()) {
      Guess guess = best_->guess;
      if (random_.below(8) == 0) {
        vary_settings(guess);
      } else {
        for (std::uint64_t i = 1 + random_.below(3); i > 0; --i) vary_prices(guess);
      }
      attempt(std::move(guess));
    }
  }

  // Makes the best plan so far better, and others that begin with swaps or nothing.
  std::optional<TimedPlan> polish(const Plan* other) {
    TidePolisher polisher(cautious_, step_, seed_);
    std::optional<TimedPlan> best;
    if (best_) {
      polisher.add_plan(best_->plan, best_->guess.wishes, best_->guess.weights.host_share);
      best = TimedPlan{best_->plan, best_->seconds};
    }
    // It makes up for what it lets go of by replays.
    if (!first_.weights.may_replay) return best;
    if (other != nullptr) polisher.add_plan(*other, first_.wishes, first_.weights.host_share);
    if (step_.trace.ops().size() <= kMostOpsForSwapSeeds) add_seeds(polisher);
    return polisher.polish(std::move(best), work_);
  }

  // All replays of a step of a few ops.
  void try_everything(std::optional<TimedPlan>& best) const {
    std::optional<std::vector<Action>> actions =
        cheapest_replays(step_, first_.weights.host_share, kMostStates);
    if (!actions) return;
    Plan plan;
    plan.policy = "tide";
    plan.trace_digest = digest_;
    plan.budget_bytes = cautious_.budget_bytes;
    plan.actions = *std::move(actions);
    if (!verify(cautious_, plan).ok()) return;
    const double seconds = sim::simulated_seconds(cautious_, plan);
    if (!best || seconds < best->seconds) best = TimedPlan{std::move(plan), seconds};
  }

  // How much is swapped, and of what, is the hardest to change afterwards, so that much is tried.
  void add_seeds(TidePolisher& polisher) const {
    if (first_.wishes.link_share == 0) {
      for (const double coverage_power : {0.0, 1.0}) {
        polisher.add_swaps(first_.wishes, first_.weights.host_share, coverage_power);
      }
      return;
    }
    for (const double source_price : {1.0, 0.1}) {
      for (const double share : {1.5, 1.2, 1.0, 0.8, 0.6}) {
        if (step_.problem.is_stopped()) return;
        SwapWishes wishes = first_.wishes;
        wishes.link_share *= share;
        wishes.source_price *= source_price;
        polisher.add_swaps(wishes, first_.weights.host_share, 0.5);
      }
    }
  }

  void vary_settings(Guess& guess) {
    const double factor = random_.uniform() < 0.5 ? 0.7 : 1.4;
    switch (random_.below(6)) {
      case 0:
        guess.wishes.link_share *= factor;
        break;
      case 1:
        guess.wishes.source_price *= factor * factor * factor;
        break;
      case 2:
        guess.weights.horizon *= factor;
        break;
      case 3:
        guess.weights.keep_dead = !guess.weights.keep_dead;
        break;
      case 4:
        guess.weights.host_share = 2 * random_.uniform();
        break;
      default:
        guess.weights.shared = random_.uniform();
    }
  }

  // Some values of one kind change places with others: dearer if most of them are dropped by the
  // best plan so far, cheaper if not.
  void vary_prices(Guess& guess) {
    static constexpr std::array<float, 3> kFactors{1.5F, 2.5F, 5.0F};
    std::vector<float>& prices = guess.weights.prices;
    prices.resize(step_.trace.values().size(), 1.0F);
    const std::vector<ValueId> chosen = choose_some(groups_[random_.below(groups_.size())]);
    const auto left = std::count_if(chosen.begin(), chosen.end(),
                                    [&](ValueId value) { return best_->leaves[value.slot()]; });
    const bool mostly_leave = 2 * static_cast<std::size_t>(left) >= chosen.size();
    // What cannot be dropped leaves, if at all, by a copy, and is copied the sooner the dearer it
    // is.
    const bool by_replay = step_.reach.can_drop(chosen.front());
    float factor = kFactors[random_.below(kFactors.size())];
    if (mostly_leave != by_replay) factor = 1 / factor;
    for (const ValueId value : chosen) prices[value.slot()] *= factor;
    guess.wishes.prices = prices;
  }

  // All of a kind, a stretch of them, or every second or third.
  std::vector<ValueId> choose_some(const std::vector<ValueId>& group) {
    std::size_t first = 0;
    std::size_t last = group.size();
    std::size_t stride = 1;
    const std::uint64_t what = random_.below(4);
    if (what == 1) stride = 2 + random_.below(2);
    if (what >= 2) {
      first = random_.below(group.size());
      last = first + 1 + random_.below(group.size() - first);
    }
    std::vector<ValueId> chosen;
    for (std::size_t i = first; i < last; i += stride) chosen.push_back(group[i]);
    return chosen;
  }

  // Values that matter, by what makes them: the layers of a net are alike. In order of birth.
  void group_values() {
    std::unordered_map<std::string, std::size_t> group_of;
    for (std::size_t i = 0; i < step_.trace.values().size(); ++i) {
      const auto value = make_id<ValueId>(i);
      if (step_.costs.value(value) < std::max<std::int64_t>(1, step_.small_bytes)) continue;
      const trace::Lifetime& life = step_.lifetimes.of(value);
      if (life.dies <= life.born + 1) continue;
      const OpId producer = step_.trace.value(value).producer;
      const std::string name = (producer.valid() ? step_.trace.op(producer).name : "") +
                               (step_.reach.can_drop(value) ? " " : " kept ") +
                               std::to_string(step_.costs.value(value));
      const auto [entry, is_new] = group_of.emplace(name, groups_.size());
      if (is_new) groups_.emplace_back();
      groups_[entry->second].push_back(value);
    }
  }

  void attempt(Guess guess) {
    std::optional<Plan> plan = plan_for(guess);
    if (!plan) return;
    const double seconds = sim::simulated_seconds(cautious_, *plan);
    if (best_ && seconds >= best_->seconds) return;
    best_ = Outcome{std::move(guess), *std::move(plan), seconds, {}};
    list_leaving(*best_);
  }

  void list_leaving(Outcome& outcome) const {
    outcome.leaves.resize(step_.trace.values().size(), false);
    for (const Action& action : outcome.plan.actions) {
      if (const auto* drop = std::get_if<Drop>(&action)) outcome.leaves[drop->value.slot()] = true;
      const auto* move = std::get_if<Move>(&action);
      if (move == nullptr || step_.reach.can_drop(move->value)) continue;
      outcome.leaves[move->value.slot()] = true;
    }
  }

  // How many seconds of replays a plan may have that could still be better than the best so far: a
  // little more than that one has in all, since some may hide behind the host.
  double extra_limit() const {
    const double plain = step_.clock.end(step_.lifetimes.end());
    return best_ ? 1.05 * best_->seconds - plain : kNoLimit;
  }

  std::optional<Plan> plan_for(Guess& guess) {
    for (int round = 0; round < kSwapRounds; ++round) {
      --tries_left_;
      std::optional<TideRun> run =
          run_tide(step_, guess.weights, choose_swaps(step_, guess.wishes), extra_limit());
      if (!run) return std::nullopt;
      const bool is_last = round + 1 == kSwapRounds;
      if (run->is_valid && (run->early_needs.empty() || is_last)) return finish(*std::move(run));
      std::vector<Tick>& wanted_by = guess.wishes.wanted_by;
      wanted_by.resize(step_.trace.values().size(), step_.never());
      for (const auto& [value, tick] : run->early_needs) {
        // What is wanted early again and again had better stay.
        wanted_by[value.slot()] =
            round < kPatientRounds ? std::min(wanted_by[value.slot()], tick) : -1;
      }
    }
    return std::nullopt;
  }

  Plan finish(TideRun run) const {
    Plan plan;
    plan.policy = "tide";
    plan.trace_digest = digest_;
    plan.budget_bytes = cautious_.budget_bytes;
    plan.actions = std::move(run.actions);
    return plan;
  }

  Problem cautious_;
  TideStep step_;
  base::Random random_;
  std::uint64_t seed_;
  Guess first_;
  std::int64_t tries_ = 0;
  std::int64_t tries_left_ = 0;
  // For what comes after the tries.
  std::int64_t work_ = 0;
  std::string digest_;
  std::vector<std::vector<ValueId>> groups_;
  std::optional<Outcome> best_;
};

}  // namespace

std::optional<Plan> search_tide(const Problem& problem, const TideOptions& options,
                                const Plan* other) {
  return Search(problem, options).best(other);
}

bool tide_fits(const Problem& problem, const TideOptions& options) {
  return Search(problem, options).find_first();
}

}  // namespace lowtide::policy
