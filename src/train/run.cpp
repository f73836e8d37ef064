// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "train/run.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "base/bytes.h"
#include "base/check.h"
#include "base/median.h"
#include "base/numbers.h"
#include "report/run_record.h"
#include "train/checkpoint.h"
#include "train/numerics.h"
#include "train/working_budget.h"

namespace lowtide::train {
namespace {

using Clock = std::chrono::steady_clock;

// Libraries choose their kernels in the first; ops are timed in all of them.
constexpr std::int64_t kStepsBeforeRecord = 4;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

void check(const RunOptions& options) {
  LT_REQUIRE(options.steps >= 0 && options.epochs >= 0, "there are no fewer than 0 steps");
  LT_REQUIRE(options.steps == 0 || options.epochs == 0,
             "--steps and --epochs exclude each other; leave one of them out");
  LT_REQUIRE(!options.resume || !options.checkpoint.empty(),
             "--resume needs --checkpoint DIR to say where to go on from");
  LT_REQUIRE(options.evaluate_every >= 0, "there are no fewer than 0 steps between evaluations");
  LT_REQUIRE(options.checkpoint_every > 0, "there must be at least one step between checkpoints");
  // For its checks: before anything is measured or written.
  static_cast<void>(session_options(options.memory, 0, options.training.device));
}

class Run {
 public:
  Run(RunOptions options, const Hooks& hooks) : options_(std::move(options)), hooks_(hooks) {}

  Report go() {
    check(options_);
    data_ = open_data_for(options_.training);
    if (options_.is_deterministic) {
      make_deterministic(data_->kind(), c10::Device(options_.training.device));
    }
    open_folder();
    find_budget();
    // What was measured until then is no peak to take a share of.
    if (hooks_.is_stopped()) return stopped_before_training();
    try {
      train_within_budget();
    } catch (const OutOfMemory& refusal) {
      // Later ones have to do with the data, and the first steps do not tell of that.
      if (report_.budget_bytes == 0 || steps_taken_ >= kFirstSteps) throw;
      throw with_working_budget({.training = options_.training,
                                 .memory = options_.memory,
                                 .data = data_,
                                 .budget_bytes = report_.budget_bytes,
                                 .refusal = refusal},
                                hooks_);
    }
    return std::move(report_);
  }

 private:
  void train_within_budget() {
    Session session(
        session_options(options_.memory, report_.budget_bytes, options_.training.device));
    Training training(options_.training, data_);
    plan_steps(training);
    LT_REQUIRE(options_.evaluate_every == 0 || training.evaluation_examples() > 0,
               "there is nothing to evaluate on in the data, so leave --evaluate-every out: ",
               options_.training.data);
    if (resumes()) go_on(training);
    if (options_.is_recorded) training.name_tensors(session);
    session.end_step();
    train(training, session);
    report_.stats = session.stats();
    if (is_step_kept_) report_.record = record_of(session);
    if (!report_.was_interrupted) report_.evaluation = evaluate(training, session);
    report_.training = options_.training;
  }

  Report stopped_before_training() {
    report_.training = options_.training;
    report_.was_interrupted = true;
    if (resumes()) report_.steps_done = folder_->steps_done();
    note_checkpoint();
    return std::move(report_);
  }

  void note_checkpoint() {
    if (folder_ && folder_->has_checkpoint()) report_.checkpoint = folder_->file().string();
  }

  bool resumes() const { return options_.resume && folder_->has_checkpoint(); }

  void open_folder() {
    if (options_.checkpoint.empty()) return;
    folder_.emplace(options_.checkpoint);
    LT_REQUIRE(options_.resume || !folder_->has_checkpoint(),
               "there is a checkpoint already; add --resume to go on from it, or name another "
               "folder: ",
               folder_->file().string());
    if (options_.resume && !folder_->has_checkpoint()) {
      hooks_.say("there is no checkpoint yet; starting from the beginning");
    }
  }

  void find_budget() {
    report_.policy = options_.memory.policy;
    const std::string& budget = options_.memory.budget;
    if (budget.empty()) return;
    if (!is_share(budget)) {
      report_.budget_bytes = base::parse_bytes(budget);
    } else {
      static_cast<void>(base::parse_budget(budget, 1));  // rubbish is refused before the measuring
      hooks_.say("measuring what the training takes without a budget");
      const std::int64_t peak = measure_plain_peak(options_.training, data_, hooks_.is_stopped);
      if (hooks_.is_stopped()) return;
      report_.plain_peak_bytes = peak;
      report_.budget_bytes = base::parse_budget(budget, peak);
    }
    LT_REQUIRE(report_.budget_bytes > 0, "a budget of nothing cannot be kept: ", budget);
    const std::string note = note_on_budget(report_.budget_bytes, options_.training.device);
    if (!note.empty()) hooks_.say(note);
  }

  void plan_steps(Training& training) {
    const std::int64_t epochs = std::max<std::int64_t>(options_.epochs, 1);
    steps_ = options_.steps > 0 ? options_.steps : epochs * training.steps_an_epoch();
    training.set_steps(steps_);
  }

  void go_on(Training& training) {
    const std::optional<Schedule> before = folder_->load(training, options_.training);
    Schedule& schedule = options_.training.schedule;
    if (before) {
      schedule = with(options_.asked, *before);
      const std::string changes = differences(schedule, *before);
      if (!changes.empty()) hooks_.say("as asked for, not as in the checkpoint: " + changes);
      training.set_schedule(schedule);
    } else {
      hooks_.say("the checkpoint does not tell its schedule; going on with --lr " +
                 base::print_number(schedule.rate) + ", " + name_of(schedule.kind));
    }
    training.set_steps(steps_);
    hooks_.say(base::concat("going on after step ", training.steps_done(), " of ", steps_));
  }

  void train(Training& training, Session& session) {
    std::vector<double> seconds;
    const Clock::time_point start = Clock::now();
    std::int64_t saved = resumes() ? training.steps_done() : -1;
    while (training.steps_done() < steps_ && !hooks_.is_stopped()) {
      const Clock::time_point step_start = Clock::now();
      if (is_step_to_keep(training)) session.capture_next_step();
      session.step([&training] { training.step(); });
      report_.loss = training.loss();
      seconds.push_back(seconds_since(step_start));
      ++steps_taken_;
      const SessionStats stats = session.stats();
      hooks_.on_step({.step = training.steps_done(),
                      .steps = steps_,
                      .loss = *report_.loss,
                      .seconds = seconds_since(start) - evaluation_seconds_,
                      .steps_of_run = static_cast<std::int64_t>(seconds.size()),
                      .peak_bytes = stats.peak_bytes,
                      .budget_bytes = stats.budget_bytes});
      if (folder_ && training.steps_done() % options_.checkpoint_every == 0) {
        folder_->write(training, options_.training, &session);
        saved = training.steps_done();
      }
      if (is_evaluation_due(training)) evaluate_on_the_way(training, session);
    }
    if (folder_ && saved != training.steps_done() && training.steps_done() > 0) {
      folder_->write(training, options_.training, &session);
    }
    note_checkpoint();
    report_.was_interrupted = training.steps_done() < steps_;
    report_.steps = static_cast<std::int64_t>(seconds.size());
    report_.steps_done = training.steps_done();
    step_seconds_ = seconds;
    report_.step_seconds = base::median(std::move(seconds));
  }

  // An early one, so that there is one if the run is stopped, but steady.
  bool is_step_to_keep(const Training& training) {
    if (!options_.is_recorded || is_step_kept_) return false;
    is_step_kept_ = steps_taken_ >= kStepsBeforeRecord || training.steps_done() + 1 == steps_;
    return is_step_kept_;
  }

  std::string record_of(const Session& session) const {
    report::RunRecord record =
        report::parse_run_record(session.run_record(options_.training.model));
    record.batch = options_.training.batch;
    record.step_seconds = step_seconds_;
    return report::print_run_record(record);
  }

  // The last evaluation comes when all is done.
  bool is_evaluation_due(const Training& training) const {
    return options_.evaluate_every > 0 && training.steps_done() < steps_ &&
           training.steps_done() % options_.evaluate_every == 0;
  }

  void evaluate_on_the_way(const Training& training, Session& session) {
    const Clock::time_point start = Clock::now();
    if (const std::optional<Evaluation> evaluation = evaluate(training, session)) {
      report_.evaluations.push_back({training.steps_done(), *evaluation});
      hooks_.on_evaluation(report_.evaluations.back());
    }
    evaluation_seconds_ += seconds_since(start);
  }

  // Nothing also if the user does not want to wait for it.
  std::optional<Evaluation> evaluate(const Training& training, Session& session) const {
    const std::optional<Evaluation> evaluation =
        training.evaluate([&](const std::function<void()>& body) {
          if (!hooks_.is_stopped()) session.step(body);
        });
    return hooks_.is_stopped() ? std::nullopt : evaluation;
  }

  RunOptions options_;
  const Hooks& hooks_;
  std::shared_ptr<const zoo::DataSet> data_;
  std::optional<CheckpointFolder> folder_;
  std::int64_t steps_ = 0;
  // Spent on the way.
  double evaluation_seconds_ = 0;
  std::int64_t steps_taken_ = 0;
  bool is_step_kept_ = false;
  std::vector<double> step_seconds_;
  Report report_;
};

}  // namespace

Report run(RunOptions options, const Hooks& hooks) { return Run(std::move(options), hooks).go(); }

}  // namespace lowtide::train
