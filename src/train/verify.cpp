// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "train/verify.h"

#include <chrono>
#include <exception>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <ATen/ATen.h>

#include "base/bytes.h"
#include "base/check.h"
#include "base/median.h"
#include "train/first_line.h"
#include "train/numerics.h"
#include "train/working_budget.h"

namespace lowtide::train {
namespace {

using Clock = std::chrono::steady_clock;

State compared_state(const Training& training) {
  State all = training.results();
  for (NamedTensor& item : training.state()) all.push_back(std::move(item));
  return all;
}

// In memory that no session knows. Nothing if there is no such tensor.
at::Tensor copy_of(const Training& training, const std::string& name, Session* session) {
  for (const NamedTensor& item : compared_state(training)) {
    if (item.name != name) continue;
    auto owner = std::make_shared<std::vector<std::byte>>();
    with_bytes(item.tensor, session, [&owner](std::span<const std::byte> bytes) {
      owner->assign(bytes.begin(), bytes.end());
    });
    return at::from_blob(
        owner->data(), item.tensor.sizes(), [owner](void*) {},
        at::TensorOptions(item.tensor.scalar_type()));
  }
  return {};
}

class Verification {
 public:
  Verification(RunOptions options, const Hooks& hooks)
      : options_(std::move(options)), hooks_(hooks) {}

  Verdict go() {
    LT_REQUIRE(!options_.memory.budget.empty(), "there is nothing to verify without a budget");
    static_cast<void>(session_options(options_.memory, 0, options_.training.device));
    data_ = open_data_for(options_.training);
    options_.training.schedule.steps = options_.steps;
    make_deterministic(data_->kind(), c10::Device(options_.training.device));
    hooks_.say("measuring what the training takes without a budget");
    Report& report = verdict_.report;
    report.training = options_.training;
    report.policy = options_.memory.policy;
    const std::int64_t peak = measure_plain_peak(options_.training, data_, hooks_.is_stopped);
    report.was_interrupted = hooks_.is_stopped();
    // What was measured until then is no peak to take a share of.
    if (report.was_interrupted) return std::move(verdict_);
    report.plain_peak_bytes = peak;
    report.budget_bytes = base::parse_budget(options_.memory.budget, peak);
    LT_REQUIRE(report.budget_bytes > 0, "a budget of nothing cannot be kept");
    hooks_.say("training plainly");
    train_plainly();
    report.was_interrupted = hooks_.is_stopped();
    if (report.was_interrupted) return std::move(verdict_);
    hooks_.say(base::concat("training inside ", base::format_bytes(report.budget_bytes)));
    const std::string note = note_on_budget(report.budget_bytes, options_.training.device);
    if (!note.empty()) hooks_.say(note);
    at::Tensor managed;
    try {
      managed = train_managed();
    } catch (const OutOfMemory& refusal) {
      throw with_working_budget({.training = options_.training,
                                 .memory = options_.memory,
                                 .data = data_,
                                 .budget_bytes = report.budget_bytes,
                                 .refusal = refusal},
                                hooks_);
    }
    if (verdict_.difference) find_element(managed);
    return std::move(verdict_);
  }

 private:
  void train_plainly() {
    Training training(options_.training, data_);
    std::vector<double> seconds;
    while (training.steps_done() < options_.steps && !hooks_.is_stopped()) {
      training.wait_for_data();
      const Clock::time_point start = Clock::now();
      training.step();
      const double loss = training.loss();
      seconds.push_back(std::chrono::duration<double>(Clock::now() - start).count());
      plain_.push_back(digest_of(compared_state(training), nullptr));
      tell(training, loss, nullptr);
    }
    verdict_.plain_step_seconds = base::median(std::move(seconds));
  }

  // The tensor that differs, if one does and is there.
  at::Tensor train_managed() {
    Report& report = verdict_.report;
    Session session(
        session_options(options_.memory, report.budget_bytes, options_.training.device));
    Training training(options_.training, data_);
    std::vector<double> seconds;
    at::Tensor differing;
    const auto steps = static_cast<std::int64_t>(plain_.size());
    while (training.steps_done() < steps && !verdict_.difference && !hooks_.is_stopped()) {
      training.wait_for_data();
      const Clock::time_point start = Clock::now();
      session.step([&training] { training.step(); });
      report.loss = training.loss();
      seconds.push_back(std::chrono::duration<double>(Clock::now() - start).count());
      differing = compare(training, session);
      tell(training, *report.loss, &session);
    }
    report.stats = session.stats();
    report.steps = report.steps_done = verdict_.compared_steps = training.steps_done();
    report.was_interrupted = !verdict_.difference && training.steps_done() < options_.steps;
    report.step_seconds = base::median(std::move(seconds));
    return differing;
  }

  at::Tensor compare(const Training& training, Session& session) {
    const auto index = static_cast<std::size_t>(training.steps_done() - 1);
    const StateDigest got = digest_of(compared_state(training), &session);
    const std::optional<std::string> tensor = first_differing(plain_[index], got);
    if (!tensor) return {};
    verdict_.difference = Difference{training.steps_done(), *tensor, std::nullopt};
    return copy_of(training, *tensor, &session);
  }

  // The managed training is gone by then, so there is room. If this fails all the same, what was
  // found stays.
  void find_element(const at::Tensor& managed) {
    hooks_.say("different; training plainly once more, to find the element");
    at::Tensor plain;
    try {
      plain = plain_copy(verdict_.difference->step, verdict_.difference->tensor);
    } catch (const InvalidInput&) {
      throw;  // the difference is none of ours
    } catch (const std::exception& error) {
      hooks_.say(base::concat("the element cannot be told: ", first_line(error.what())));
    }
    if (!managed.defined() || !plain.defined() || managed.sizes() != plain.sizes() ||
        managed.scalar_type() != plain.scalar_type()) {
      return;
    }
    verdict_.difference->element = first_differing_element(plain, managed);
  }

  // The tensor after that step of plain training, of which only digests were kept: trains once
  // more, in a session without a budget, which is as good as none. Nothing if the user does not
  // want to wait for it.
  at::Tensor plain_copy(std::int64_t step, const std::string& name) {
    Session session({.device = options_.training.device});
    Training training(options_.training, data_);
    while (training.steps_done() < step) {
      if (hooks_.is_stopped()) return {};
      session.step([&training] { training.step(); });
    }
    const StateDigest again = digest_of(compared_state(training), &session);
    const StateDigest& before = plain_[static_cast<std::size_t>(step - 1)];
    if (const auto changed = first_differing(before, again)) {
      throw InvalidInput(base::concat("plain training does not repeat itself, so there is nothing ",
                                      "to compare with: ", *changed, " differs after step ", step));
    }
    return copy_of(training, name, &session);
  }

  void tell(const Training& training, double loss, const Session* session) {
    Progress progress = {
        .step = training.steps_done(), .steps = options_.steps, .loss = loss, .seconds = 0};
    if (session != nullptr) {
      progress.peak_bytes = session->stats().peak_bytes;
      progress.budget_bytes = verdict_.report.budget_bytes;
    }
    hooks_.on_step(progress);
  }

  RunOptions options_;
  const Hooks& hooks_;
  std::shared_ptr<const zoo::DataSet> data_;
  std::vector<StateDigest> plain_;
  Verdict verdict_;
};

}  // namespace

Verdict verify(RunOptions options, const Hooks& hooks) {
  return Verification(std::move(options), hooks).go();
}

}  // namespace lowtide::train
