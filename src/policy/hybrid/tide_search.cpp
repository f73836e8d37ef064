// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "policy/hybrid/tide_search.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/random.h"
#include "policy/hybrid/tide_run.h"
#include "policy/hybrid/tide_step.h"
#include "policy/hybrid/tide_swaps.h"
#include "sim/simulation.h"

namespace lowtide::policy {
namespace {

using trace::Tick;

// Plans are compared on links that are slower than the machine's: copies that only just hide in the
// simulator do not on a real machine.
constexpr double kLinkSpeed = 0.9;
// How often swaps are planned again because replays want their values earlier.
constexpr int kSwapRounds = 4;
constexpr std::int64_t kLeastTries = 3;

// What one try decides by.
struct Guess {
  TideWeights weights;
  SwapWishes wishes;
};

struct Outcome {
  Guess guess;
  Plan plan;
  double seconds = 0;
};

class Search {
 public:
  Search(const Problem& problem, const TideOptions& options)
      : problem_(problem), step_(problem), cautious_(problem), random_(options.seed) {
    first_.weights.may_replay = options.may_recompute;
    if (!options.may_swap) first_.wishes.link_share = 0;
    for (Tier& tier : cautious_.machine.tiers) {
      tier.read_bytes_per_second *= kLinkSpeed;
      tier.write_bytes_per_second *= kLinkSpeed;
    }
    const auto ops = static_cast<double>(problem.trace->ops().size());
    tries_left_ =
        std::max(kLeastTries, static_cast<std::int64_t>(options.tries * 1000 / (ops + 100)));
    digest_ = digest(*problem.trace);
  }

  std::optional<Plan> best() {
    attempt(first_);
    tune();
    if (!best_) return std::nullopt;
    improve();
    return std::move(best_->plan);
  }

  // Without a search.
  bool first_fits() {
    attempt(first_);
    return best_.has_value();
  }

 private:
  static constexpr std::array kShares{0.85, 0.7, 0.5, 0.0};
  static constexpr std::array kHorizons{0.1, 0.01, 1.0};

  // The settings as a coarse grid: they do not work apart.
  void tune() {
    for (const double share : kShares) {
      if (share > 0 && first_.wishes.link_share == 0) continue;
      for (const double horizon : kHorizons) {
        for (const double shared : {0.0, 1.0}) {
          if (tries_left_ <= 0) return;
          Guess guess = first_;
          guess.wishes.link_share = share;
          guess.weights.horizon = horizon;
          guess.weights.shared = shared;
          attempt(std::move(guess));
        }
      }
    }
    if (tries_left_ <= 0 || !best_) return;
    Guess guess = best_->guess;
    guess.weights.keep_dead = true;
    attempt(std::move(guess));
  }

  void improve() {
    group_values();
    if (groups_.empty()) return;
    while (tries_left_ > 0) {
      Guess guess = best_->guess;
      if (random_.below(8) == 0) {
        vary_settings(guess);
      } else {
        vary_prices(guess);
      }
      attempt(std::move(guess));
    }
  }

  void vary_settings(Guess& guess) {
    const double factor = random_.uniform() < 0.5 ? 0.7 : 1.4;
    switch (random_.below(3)) {
      case 0:
        guess.wishes.link_share = std::min(1.0, guess.wishes.link_share * factor);
        break;
      case 1:
        guess.weights.horizon *= factor;
        break;
      default:
        guess.weights.shared = random_.uniform();
    }
  }

  // Values of one kind, or all of one stretch of the step, become dearer or cheaper.
  void vary_prices(Guess& guess) {
    static constexpr std::array<float, 6> kFactors{0.25F, 0.5F, 0.8F, 1.25F, 2.0F, 4.0F};
    const float factor = kFactors[random_.below(kFactors.size())];
    std::vector<float>& prices = guess.weights.prices;
    prices.resize(step_.trace.values().size(), 1.0F);
    const auto change = [&](ValueId value) { prices[value.slot()] *= factor; };
    const std::uint64_t what = random_.below(4);
    if (what == 0) {
      for (const ValueId value : candidates_) {
        if (random_.below(4) == 0) change(value);
      }
    } else if (what == 1) {
      for (const ValueId value : groups_[random_.below(groups_.size())]) change(value);
    } else {
      // Candidates are in order of birth.
      const std::size_t first = random_.below(candidates_.size());
      const std::size_t count = 1 + random_.below(what == 2 ? 4 : 1 + candidates_.size() / 4);
      const std::size_t last = std::min(candidates_.size(), first + count);
      for (std::size_t i = first; i < last; ++i) change(candidates_[i]);
    }
    guess.wishes.prices = prices;
  }

  // Values that matter, all together and by what makes them: layers of a net are alike.
  void group_values() {
    std::unordered_map<std::string, std::size_t> group_of;
    for (std::size_t i = 0; i < step_.trace.values().size(); ++i) {
      const auto value = make_id<ValueId>(i);
      if (step_.costs.value(value) < std::max<std::int64_t>(1, step_.small_bytes)) continue;
      const trace::Lifetime& life = step_.lifetimes.of(value);
      if (life.dies <= life.born + 1) continue;
      candidates_.push_back(value);
      const OpId producer = step_.trace.value(value).producer;
      const std::string name = (producer.valid() ? step_.trace.op(producer).name : "") + " " +
                               std::to_string(step_.costs.value(value));
      const auto [entry, is_new] = group_of.emplace(name, groups_.size());
      if (is_new) groups_.emplace_back();
      groups_[entry->second].push_back(value);
    }
  }

  void attempt(Guess guess) {
    --tries_left_;
    std::optional<Plan> plan = plan_for(guess);
    if (!plan) return;
    const double seconds = sim::simulated_seconds(cautious_, *plan);
    if (best_ && seconds >= best_->seconds) return;
    best_ = Outcome{std::move(guess), *std::move(plan), seconds};
  }

  std::optional<Plan> plan_for(Guess& guess) {
    for (int round = 0; round < kSwapRounds; ++round) {
      std::optional<TideRun> run =
          run_tide(step_, guess.weights, choose_swaps(step_, guess.wishes));
      if (!run) return std::nullopt;
      const bool is_last = round + 1 == kSwapRounds;
      if (run->is_valid && (run->early_needs.empty() || is_last)) return finish(*std::move(run));
      std::vector<Tick>& wanted_by = guess.wishes.wanted_by;
      wanted_by.resize(step_.trace.values().size(), step_.never());
      for (const auto& [value, tick] : run->early_needs) {
        // What is still early when the rounds are nearly over had better stay.
        wanted_by[value.slot()] =
            round + 2 < kSwapRounds ? std::min(wanted_by[value.slot()], tick) : -1;
      }
    }
    return std::nullopt;
  }

  Plan finish(TideRun run) const {
    Plan plan;
    plan.policy = "tide";
    plan.trace_digest = digest_;
    plan.budget_bytes = problem_.budget_bytes;
    plan.actions = std::move(run.actions);
    return plan;
  }

  const Problem& problem_;
  TideStep step_;
  Problem cautious_;
  base::Random random_;
  Guess first_;
  std::int64_t tries_left_ = 0;
  std::string digest_;
  std::vector<ValueId> candidates_;
  std::vector<std::vector<ValueId>> groups_;
  std::optional<Outcome> best_;
};

}  // namespace

std::optional<Plan> search_tide(const Problem& problem, const TideOptions& options) {
  return Search(problem, options).best();
}

bool tide_fits(const Problem& problem, const TideOptions& options) {
  return Search(problem, options).first_fits();
}

}  // namespace lowtide::policy
