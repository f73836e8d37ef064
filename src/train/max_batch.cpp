// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "train/max_batch.h"

#include <algorithm>
#include <chrono>
#include <exception>
#include <functional>
#include <future>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include <c10/core/Device.h>
#include <c10/util/Exception.h>
#include <malloc.h>

#include "base/bytes.h"
#include "base/check.h"
#include "base/median.h"
#include "train/fastest.h"
#include "train/first_line.h"
#include "train/host_memory.h"
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
// Enough to come within an eighth of the fastest from where batches were doubled.
constexpr int kMostTriesNearFastest = 8;
// cudaErrorMemoryAllocation.
constexpr std::int32_t kOutOfMemoryCode = 2;

BatchTry not_trained(std::int64_t batch, const std::string& why, std::exception_ptr error = {}) {
  return {.batch = batch, .refusal = first_line(why), .error = std::move(error)};
}

class Search {
 public:
  Search(RunOptions options, const BatchSearch& search, const Hooks& hooks)
      : options_(std::move(options)), search_(search), hooks_(hooks) {}

  MaxBatch go() {
    LT_REQUIRE(search_.most >= 1 && search_.first >= 1, "a batch has at least one example");
    LT_REQUIRE(search_.slack >= 0 && search_.slack <= 1, "a slack is a share: ", search_.slack);
    LT_REQUIRE(!is_share(options_.memory.budget) && !options_.memory.budget.empty(),
               "the budget must be a size: what a share is of grows with the batch");
    data_ = open_data_for(options_.training);
    result_.training = options_.training;
    result_.goal = search_.goal;
    result_.policy = options_.memory.policy;
    result_.budget_bytes = base::parse_bytes(options_.memory.budget);
    LT_REQUIRE(result_.budget_bytes > 0, "a budget of nothing cannot be kept");
    result_.asked_bytes = result_.budget_bytes;
    if (c10::Device(options_.training.device).is_cpu()) stay_within_host();
    result_.most = std::min(search_.most, examples());
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

  void stay_within_host() {
    const HostMemory host = host_memory();
    if (host.total_bytes == 0) return;  // the kernel does not tell
    MemoryOptions& memory = options_.memory;
    std::optional<std::int64_t> host_cap;
    if (memory.tiers == "none") {
      host_cap = 0;
    } else if (!memory.host_cap.empty()) {
      host_cap = base::parse_bytes(memory.host_cap);
    }
    const HostShare share = share_of(host, result_.budget_bytes, host_cap);
    if (share.budget_bytes < result_.budget_bytes) {
      result_.budget_bytes = share.budget_bytes;
      hooks_.say(base::concat("the budget is more than this machine has free: searching within ",
                              base::format_bytes(share.budget_bytes)));
    }
    if (memory.tiers != "none") memory.host_cap = std::to_string(share.host_cap_bytes);
  }

  void find() {
    try {
      search();
    } catch (const c10::AcceleratorError& error) {
      // The device does nothing more, but what was found before is true.
      result_.failure = first_line(error.what_without_backtrace());
      if (largest_so_far() == 0) throw;
    }
    result_.was_interrupted = hooks_.is_stopped();
    if (!result_.was_interrupted) conclude();
  }

  void search() {
    largest_that_fits(
        search_.first, result_.most, [this](std::int64_t batch) { return tried(batch).is_plain; },
        search_.slack);
    if (search_.goal != BatchGoal::kPlain) {
      const std::int64_t start = largest_so_far();
      largest_that_fits(
          start == 0 ? search_.first : start, result_.most,
          [this](std::int64_t batch) { return tried(batch).fits(); }, search_.slack);
    }
    if (hooks_.is_stopped()) return;
    if (largest_so_far() == 0) throw_refusal();
    if (search_.goal == BatchGoal::kFastest) find_fastest();
  }

  void find_fastest() {
    for (int i = 0; i < kMostTriesNearFastest; ++i) {
      const std::optional<std::int64_t> next = next_near_fastest(rates());
      if (!next || hooks_.is_stopped()) break;
      tried(*next);
    }
    const std::int64_t plain = largest_of(&BatchTry::is_plain);
    if (plain > 0) result_.plain = without_session(tries_.at(plain));
  }

  std::map<std::int64_t, double> rates() const {
    std::map<std::int64_t, double> rates;
    for (const auto& [batch, tried] : tries_) rates[batch] = tried.examples_per_second();
    return rates;
  }

  // Of the tries.
  void conclude() {
    const std::int64_t plain = largest_of(&BatchTry::is_plain);
    if (plain > 0 && !result_.plain) result_.plain = tries_.at(plain);
    result_.managed = tries_.at(largest_so_far());
    const Fastest fastest = fastest_of(rates());
    result_.fastest = tries_.at(fastest.number);
    if (result_.plain &&
        result_.plain->examples_per_second() > result_.fastest.examples_per_second()) {
      result_.fastest = *result_.plain;
    }
    const auto here = tries_.find(result_.fastest.batch);
    if (here != tries_.begin()) result_.tried_below = std::prev(here)->first;
    if (std::next(here) != tries_.end()) result_.tried_above = std::next(here)->first;
  }

  [[noreturn]] void throw_refusal() const {
    // One example comes last: batch norm may refuse it, as a single value a channel.
    const auto found = tries_.lower_bound(2);
    const BatchTry& smallest = (found == tries_.end() ? tries_.begin() : found)->second;
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

  // 0: none.
  std::int64_t largest_so_far() const { return largest_of(&BatchTry::fits); }

  template <class Property>
  std::int64_t largest_of(Property property) const {
    const auto found = std::find_if(tries_.rbegin(), tries_.rend(), [&](const auto& entry) {
      return std::invoke(property, entry.second);
    });
    return found == tries_.rend() ? 0 : found->first;
  }

  const BatchTry& tried(std::int64_t batch) {
    const auto found = tries_.find(batch);
    if (found != tries_.end()) return found->second;
    try {
      const BatchTry result = attempt(batch, [&] { return train_inside_budget(batch); });
      tell(result);
      return tries_.emplace(batch, result).first->second;
    } catch (const c10::AcceleratorError& error) {
      tries_.emplace(batch, not_trained(batch, error.what_without_backtrace()));
      throw;
    }
  }

  // In a thread of its own: what autograd had not come to when a step failed stays in a queue of
  // the thread, with all that it would have read, and would count against the next try.
  static BatchTry attempt(std::int64_t batch, const std::function<BatchTry()>& body) {
    // The C library keeps what the threads of other tries gave back, each thread's by itself: after
    // twenty tries seven times the budget.
    ::malloc_trim(0);
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
  const BatchSearch search_;
  const Hooks& hooks_;
  std::shared_ptr<const zoo::DataSet> data_;
  std::map<std::int64_t, BatchTry> tries_;
  MaxBatch result_;
};

}  // namespace

MaxBatch max_batch(RunOptions options, const BatchSearch& search, const Hooks& hooks) {
  return Search(std::move(options), search, hooks).go();
}

}  // namespace lowtide::train
