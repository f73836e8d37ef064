// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "train/price_curve.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <future>
#include <utility>

#include <c10/core/CachingDeviceAllocator.h>
#include <c10/util/Exception.h>

#include "base/bytes.h"
#include "base/check.h"
#include "base/median.h"
#include "train/first_line.h"
#include "train/numerics.h"

namespace lowtide::train {
namespace {

using Clock = std::chrono::steady_clock;

// What the run before left in torch's cache would count against the next one's budget.
void empty_cache(const std::string& device) {
  if (device != "cpu") c10::getDeviceAllocator(c10::kCUDA)->emptyCache();
}

// What one training from its beginning came to.
struct Outcome {
  std::vector<double> losses{};
  double step_seconds = 0;
  SessionStats stats{};
  // Why it ended before its time.
  std::string refusal{};
  std::int64_t needed_bytes = 0;
};

class Measurement {
 public:
  Measurement(CurveOptions options, const Hooks& hooks)
      : options_(std::move(options)), hooks_(hooks) {}

  PriceCurve go() {
    check();
    TrainingOptions& training = options_.run.training;
    data_ = open_data_for(training);
    steps_ = options_.untimed_steps + options_.timed_steps;
    training.schedule.steps = steps_;
    make_deterministic(data_->kind(), c10::Device(training.device));
    {
      // An unknown policy or a spill folder that is missing should not wait for its turn.
      const Session probe(limits(base::kGiB));
    }
    curve_.training = training;
    curve_.policy = options_.run.memory.policy;
    curve_.tiers = options_.run.memory.tiers;
    curve_.timed_steps = options_.timed_steps;
    curve_.steps = steps_;
    find_budgets();
    for (int round = 1; round <= options_.rounds && !curve_.was_interrupted; ++round) {
      run_round(round);
    }
    return std::move(curve_);
  }

 private:
  void check() const {
    LT_REQUIRE(!options_.budgets.empty(), "there is nothing to measure without a budget");
    LT_REQUIRE(options_.rounds > 0 && options_.timed_steps > 0 && options_.untimed_steps >= 0,
               "there must be at least one round of one timed step");
    for (const std::string& budget : options_.budgets) {
      LT_REQUIRE(base::parse_budget(budget, base::kGiB) > 0,
                 "a budget of nothing cannot be kept: ", budget);
    }
  }

  SessionOptions limits(std::int64_t budget_bytes) const {
    SessionOptions limits =
        session_options(options_.run.memory, budget_bytes, options_.run.training.device);
    limits.wait_for_plans = true;
    return limits;
  }

  // Of plain training, a session without a budget sees the peak. It also loads the kernels, so that
  // no run pays for that.
  void find_budgets() {
    hooks_.say("measuring what the training takes without a budget");
    curve_.plain_peak_bytes = in_own_thread(
        [this] { return measure_plain_peak(options_.run.training, data_, hooks_.is_stopped); });
    for (const std::string& budget : options_.budgets) {
      curve_.points.push_back(
          {.budget = budget, .budget_bytes = base::parse_budget(budget, curve_.plain_peak_bytes)});
      // A session takes 0 for no budget at all.
      LT_REQUIRE(curve_.points.back().budget_bytes > 0 || hooks_.is_stopped(),
                 "a budget of nothing cannot be kept: ", budget);
    }
    std::stable_sort(
        curve_.points.begin(), curve_.points.end(),
        [](const CurvePoint& a, const CurvePoint& b) { return a.budget_bytes > b.budget_bytes; });
  }

  // What autograd had not come to when a step failed stays in a queue of the thread, with all that
  // it would have read. Plain runs have a thread of their own because the others do.
  template <class Work>
  auto in_own_thread(const Work& work) const -> decltype(work()) {
    try {
      return std::async(std::launch::async, work).get();
    } catch (const c10::OutOfMemoryError& error) {
      throw OutOfMemory(base::concat(
          "the plain training does not fit on the device, so that there is nothing to compare "
          "with; take a smaller --batch: ",
          first_line(error.what_without_backtrace())));
    }
  }

  void run_round(int round) {
    const std::string prefix = base::concat("round ", round, " of ", options_.rounds, ": ");
    const Outcome plain = in_own_thread([this] {
      empty_cache(options_.run.training.device);
      return train(nullptr);
    });
    tell(prefix + "plain", plain);
    std::vector<Outcome> outcomes;
    for (const CurvePoint& point : curve_.points) {
      outcomes.push_back(point.is_refused() ? Outcome{} : try_budget(point.budget_bytes));
      if (!point.is_refused()) tell(prefix + point.budget, outcomes.back());
    }
    curve_.was_interrupted = hooks_.is_stopped();
    if (curve_.was_interrupted) return;
    add_plain(plain);
    for (std::size_t i = 0; i < outcomes.size(); ++i) {
      if (!curve_.points[i].is_refused()) add(curve_.points[i], outcomes[i], plain);
    }
  }

  Outcome try_budget(std::int64_t budget_bytes) const {
    try {
      return std::async(std::launch::async,
                        [&] {
                          empty_cache(options_.run.training.device);
                          Session session(limits(budget_bytes));
                          return train(&session);
                        })
          .get();
    } catch (const OutOfMemory& error) {
      return {.refusal = first_line(error.what()), .needed_bytes = error.smallest_budget_bytes()};
    } catch (const c10::OutOfMemoryError& error) {
      return {.refusal = first_line(error.what_without_backtrace())};
    }
  }

  Outcome train(Session* session) const {
    Outcome outcome;
    Training training(options_.run.training, data_);
    if (session != nullptr) session->end_step();
    std::vector<double> seconds;
    for (int i = 0; i < steps_ && !hooks_.is_stopped(); ++i) {
      training.wait_for_data();
      const Clock::time_point start = Clock::now();
      if (session != nullptr) {
        session->step([&training] { training.step(); });
      } else {
        training.step();
      }
      outcome.losses.push_back(training.loss());  // waits for the device
      if (i < options_.untimed_steps) continue;
      seconds.push_back(std::chrono::duration<double>(Clock::now() - start).count());
    }
    outcome.step_seconds = base::median(std::move(seconds)).value_or(0);
    if (session != nullptr) outcome.stats = session->stats();
    return outcome;
  }

  void add_plain(const Outcome& plain) {
    curve_.plain_seconds.push_back(plain.step_seconds);
    if (losses_.empty()) losses_ = plain.losses;
    if (!curve_.plain_difference) {
      curve_.plain_difference = first_differing_loss(losses_, plain.losses);
    }
  }

  void add(CurvePoint& point, const Outcome& outcome, const Outcome& plain) const {
    point.refusal = outcome.refusal;
    point.needed_bytes = outcome.needed_bytes;
    if (point.is_refused()) return;
    point.step_seconds.push_back(outcome.step_seconds);
    point.ratios.push_back(outcome.step_seconds / plain.step_seconds);
    point.peak_bytes = std::max(point.peak_bytes, outcome.stats.peak_bytes);
    point.reserved_peak_bytes =
        std::max(point.reserved_peak_bytes, outcome.stats.reserved_peak_bytes);
    point.stats = outcome.stats;
    if (!point.difference) point.difference = first_differing_loss(losses_, outcome.losses);
  }

  void tell(const std::string& what, const Outcome& outcome) const {
    if (hooks_.is_stopped()) return;
    hooks_.say(base::concat(what, ": ",
                            outcome.refusal.empty()
                                ? base::format_seconds(outcome.step_seconds) + " a step"
                                : "refused"));
  }

  CurveOptions options_;
  const Hooks& hooks_;
  std::shared_ptr<const zoo::DataSet> data_;
  int steps_ = 0;
  // Of the first plain run.
  std::vector<double> losses_;
  PriceCurve curve_;
};

}  // namespace

std::optional<LossDifference> first_differing_loss(const std::vector<double>& plain,
                                                   const std::vector<double>& got) {
  LT_CHECK(plain.size() == got.size(), "not as many losses: ", plain.size(), ", ", got.size());
  for (std::size_t i = 0; i < plain.size(); ++i) {
    // By their bits, so that a NaN is like itself.
    if (std::bit_cast<std::uint64_t>(plain[i]) == std::bit_cast<std::uint64_t>(got[i])) continue;
    return LossDifference{static_cast<std::int64_t>(i + 1), plain[i], got[i]};
  }
  return std::nullopt;
}

PriceCurve price_curve(CurveOptions options, const Hooks& hooks) {
  return Measurement(std::move(options), hooks).go();
}

}  // namespace lowtide::train
