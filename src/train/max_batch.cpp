// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "train/max_batch.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <functional>
#include <future>
#include <map>
#include <utility>

#include <c10/util/Exception.h>

#include "base/bytes.h"
#include "base/check.h"
#include "base/median.h"
#include "train/largest.h"
#include "zoo/catalogue.h"
#include "zoo/shapes_only.h"

namespace lowtide::train {
namespace {

using Clock = std::chrono::steady_clock;

// A step that does not fit is planned after the second, the next one moves things to where the plan
// wants them, and some more show whether the plan leaves enough free.
constexpr int kUntimedSteps = 5;
constexpr int kTimedSteps = 3;
// One example comes last: batch norm may refuse it, as a single value a channel.
constexpr std::int64_t kFirstBatch = 2;
// cudaErrorMemoryAllocation.
constexpr std::int32_t kOutOfMemoryCode = 2;

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

BatchTry not_trained(std::int64_t batch, const std::string& why, std::exception_ptr error = {}) {
  return {.batch = batch, .refusal = first_line(why), .error = std::move(error)};
}

class Search {
 public:
  Search(RunOptions options, const Hooks& hooks) : options_(std::move(options)), hooks_(hooks) {}

  MaxBatch go(std::int64_t most) {
    LT_REQUIRE(most >= 1, "a batch has at least one example");
    LT_REQUIRE(!is_share(options_.memory.budget) && !options_.memory.budget.empty(),
               "the budget must be a size: what a share is of grows with the batch");
    data_ = open_data_for(options_.training);
    result_.training = options_.training;
    result_.policy = options_.memory.policy;
    result_.budget_bytes = base::parse_bytes(options_.memory.budget);
    LT_REQUIRE(result_.budget_bytes > 0, "a budget of nothing cannot be kept");
    result_.most = std::min(most, examples());
    find();
    for (auto& [batch, tried] : tries_) result_.tries.push_back(std::move(tried));
    return std::move(result_);
  }

 private:
  std::int64_t examples() const {
    const zoo::ShapesOnly no_memory;
    const TrainingOptions& training = options_.training;
    return data_->size(zoo::Part::kTraining,
                       zoo::make_model(training.model, training.model_options).input);
  }

  void find() {
    const std::int64_t plain = largest_that_fits(
        kFirstBatch, result_.most, [this](std::int64_t batch) { return tried(batch).is_plain; });
    const std::int64_t managed = largest_that_fits(
        largest_so_far(), result_.most, [this](std::int64_t batch) { return tried(batch).fits(); });
    result_.was_interrupted = hooks_.is_stopped();
    if (result_.was_interrupted) return;
    if (managed == 0) throw_refusal(tries_.at(std::min(kFirstBatch, result_.most)));
    if (plain > 0) result_.plain = without_session(tries_.at(plain));
    result_.was_interrupted = hooks_.is_stopped();
    result_.managed = tries_.at(managed);
    result_.fastest = std::max_element(tries_.begin(), tries_.end(), [](auto& a, auto& b) {
                        return a.second.examples_per_second() < b.second.examples_per_second();
                      })->second;
    if (result_.plain &&
        result_.plain->examples_per_second() > result_.fastest.examples_per_second()) {
      result_.fastest = *result_.plain;
    }
  }

  [[noreturn]] void throw_refusal(const BatchTry& smallest) const {
    if (smallest.error) std::rethrow_exception(smallest.error);
    throw OutOfMemory(base::concat("no batch trains within ",
                                   base::format_bytes(result_.budget_bytes), "; with a batch of ",
                                   smallest.batch, ": ", smallest.refusal));
  }

  // The step time of a session has its watching in it.
  BatchTry without_session(const BatchTry& plain) {
    hooks_.say(base::concat("batch ", plain.batch, ": once more, without Lowtide"));
    BatchTry again = attempt(plain.batch, [&] { return train_without_session(plain); });
    if (again.fits()) return again;
    if (!hooks_.is_stopped()) hooks_.say("it does not train so: " + again.refusal);
    return plain;
  }

  // Where the search goes on.
  std::int64_t largest_so_far() const {
    const auto found = std::find_if(tries_.rbegin(), tries_.rend(),
                                    [](const auto& entry) { return entry.second.fits(); });
    return found == tries_.rend() ? kFirstBatch : found->first;
  }

  const BatchTry& tried(std::int64_t batch) {
    const auto [found, is_new] = tries_.try_emplace(batch);
    if (is_new) {
      found->second = attempt(batch, [&] { return train_inside_budget(batch); });
      tell(found->second);
    }
    return found->second;
  }

  // In a thread of its own: what autograd had not come to when a step failed stays in a queue of
  // the thread, with all that it would have read, and would count against the next try.
  static BatchTry attempt(std::int64_t batch, const std::function<BatchTry()>& body) {
    try {
      return std::async(std::launch::async, body).get();
    } catch (const OutOfMemory& error) {
      return not_trained(batch, error.what());
    } catch (const c10::OutOfMemoryError& error) {
      return not_trained(batch, error.what_without_backtrace());
    } catch (const c10::AcceleratorError& error) {
      // After any other of these the device does nothing more.
      if (error.get_error_code() != kOutOfMemoryCode) throw;
      return not_trained(batch, error.what_without_backtrace());
    } catch (const c10::Error& error) {
      // Libraries that find no room for their workspaces, or no kernel for so many examples.
      return not_trained(batch, error.what_without_backtrace(), std::current_exception());
    }
  }

  BatchTry train_inside_budget(std::int64_t batch) const {
    SessionOptions limits =
        session_options(options_.memory, result_.budget_bytes, options_.training.device);
    limits.wait_for_plans = true;
    Session session(limits);
    const BatchTry timed = time_steps(batch, &session);
    const SessionStats stats = session.stats();
    return {.batch = batch,
            .refusal = timed.refusal,
            .is_plain = timed.fits() && stats.evictions == 0 && stats.overflow_bytes == 0,
            .is_inside_session = true,
            .step_seconds = timed.step_seconds,
            .peak_bytes = stats.peak_bytes,
            .evictions = stats.evictions};
  }

  BatchTry train_without_session(const BatchTry& plain) const {
    BatchTry timed = time_steps(plain.batch, nullptr);
    timed.is_plain = true;
    timed.peak_bytes = plain.peak_bytes;
    return timed;
  }

  // Its step time and nothing else. A session, if there is one, has the steps told to it.
  BatchTry time_steps(std::int64_t batch, Session* session) const {
    TrainingOptions training_options = options_.training;
    training_options.batch = batch;
    Training training(training_options, data_);
    if (session != nullptr) session->end_step();
    std::vector<double> seconds;
    for (int i = 0; i < kUntimedSteps + kTimedSteps; ++i) {
      if (hooks_.is_stopped()) return not_trained(batch, "stopped");
      training.wait_for_data();
      const Clock::time_point start = Clock::now();
      if (session != nullptr) {
        session->step([&training] { training.step(); });
      } else {
        training.step();
      }
      static_cast<void>(training.loss());  // waits for the device
      if (i < kUntimedSteps) continue;
      seconds.push_back(std::chrono::duration<double>(Clock::now() - start).count());
    }
    return {.batch = batch, .step_seconds = *base::median(seconds)};
  }

  void tell(const BatchTry& tried) const {
    if (hooks_.is_stopped()) return;
    hooks_.say(base::concat(
        "batch ", tried.batch, ": ",
        !tried.fits() ? "does not train: " + tried.refusal
                      : base::concat(static_cast<std::int64_t>(tried.examples_per_second()),
                                     " examples/s, ", tried.evictions, " evictions")));
  }

  RunOptions options_;
  const Hooks& hooks_;
  std::shared_ptr<const zoo::DataSet> data_;
  std::map<std::int64_t, BatchTry> tries_;
  MaxBatch result_;
};

}  // namespace

MaxBatch max_batch(RunOptions options, std::int64_t most, const Hooks& hooks) {
  return Search(std::move(options), hooks).go(most);
}

}  // namespace lowtide::train
