// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "ctdr/recovery.h"

#include <algorithm>
#include <chrono>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/median.h"

namespace lowtide::ctdr {
namespace {

using Clock = std::chrono::steady_clock;

class FineTuning {
 public:
  FineTuning(const train::TrainingOptions& training,
             const std::shared_ptr<const zoo::DataSet>& data, const RecoveryOptions& options,
             const train::Hooks& hooks)
      : options_(options),
        hooks_(hooks),
        session_(train::session_options(options.memory, options.budget_bytes, training.device)),
        training_(with_rate(training, options), data) {
    LT_REQUIRE(training_.evaluation_examples() > 0,
               "there is nothing to evaluate on in the data, so nobody could tell what is lost: ",
               training.data);
    steps_ = options.epochs * training_.steps_an_epoch();
    every_ = options.evaluate_every > 0 ? options.evaluate_every
                                        : std::max<std::int64_t>(training_.steps_an_epoch() / 2, 1);
    training_.set_steps(std::max<std::int64_t>(steps_, 1));
    session_.end_step();
  }

  std::optional<Recovery> go(const OnRecovered& on_recovered) {
    Recovery result;
    result.norms = training_.settle_norms(options_.norm_batches, in_session());
    result.after_decomposition = evaluate();
    result.after_fine_tuning = result.after_decomposition;
    result.is_back = is_back(result);
    result.was_interrupted = hooks_.is_stopped() || !train(result);
    result.steps = training_.steps_done();
    if (result.was_interrupted && (!options_.keeps_interrupted || result.steps == 0)) {
      return std::nullopt;
    }
    result.step_seconds = base::median(seconds_);
    result.peak_bytes = session_.stats().peak_bytes;
    on_recovered(training_, session_);
    return result;
  }

 private:
  // Gives whether it came to its end.
  bool train(Recovery& result) {
    while (!result.is_back && training_.steps_done() < steps_) {
      step(result);
      if (hooks_.is_stopped()) return false;
      if (training_.steps_done() % every_ != 0 && training_.steps_done() < steps_) continue;
      const train::Evaluation found = evaluate();
      // Then it is of some of the examples only.
      if (hooks_.is_stopped()) return false;
      result.after_fine_tuning = found;
      result.evaluated_step = training_.steps_done();
      hooks_.on_evaluation({training_.steps_done(), found});
      result.is_back = is_back(result);
    }
    return true;
  }

  static train::TrainingOptions with_rate(train::TrainingOptions training,
                                          const RecoveryOptions& options) {
    training.schedule.kind = train::Schedule::Kind::kCosine;
    training.schedule.rate *= options.rate_share;
    training.schedule.warm_up_steps = 0;
    return training;
  }

  std::function<void(const std::function<void()>&)> in_session() {
    return [this](const std::function<void()>& body) {
      if (!hooks_.is_stopped()) session_.step(body);
    };
  }

  train::Evaluation evaluate() { return *training_.evaluate(in_session()); }

  bool is_back(const Recovery& result) const {
    return result.after_fine_tuning.accuracy >= options_.wanted_accuracy;
  }

  void step(Recovery& result) {
    const Clock::time_point start = Clock::now();
    session_.step([this] { training_.step(); });
    const double loss = training_.loss();  // waits for the device
    seconds_.push_back(std::chrono::duration<double>(Clock::now() - start).count());
    result.seconds += seconds_.back();
    const SessionStats stats = session_.stats();
    hooks_.on_step({.step = training_.steps_done(),
                    .steps = steps_,
                    .loss = loss,
                    .seconds = result.seconds,
                    .steps_of_run = training_.steps_done(),
                    .peak_bytes = stats.peak_bytes,
                    .budget_bytes = stats.budget_bytes});
  }

  const RecoveryOptions& options_;
  const train::Hooks& hooks_;
  Session session_;
  train::Training training_;
  std::int64_t steps_ = 0;
  std::int64_t every_ = 1;
  std::vector<double> seconds_;
};

}  // namespace

std::optional<Recovery> recover(const train::TrainingOptions& training,
                                const std::shared_ptr<const zoo::DataSet>& data,
                                const RecoveryOptions& options, const OnRecovered& on_recovered,
                                const train::Hooks& hooks) {
  return FineTuning(training, data, options, hooks).go(on_recovered);
}

}  // namespace lowtide::ctdr
