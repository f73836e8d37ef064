// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "measure.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <exception>
#include <iostream>
#include <optional>
#include <utility>

#include "base/median.h"
#include "base/printed.h"
#include "timeline.h"
#include "train/report.h"

namespace lowtide::bench {
namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

// For which this thread has had a processor.
double processor_seconds() {
  timespec time{};
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
  return static_cast<double>(time.tv_sec) + 1e-9 * static_cast<double>(time.tv_nsec);
}

// Runs modes on one work, one after the other.
class Rounds {
 public:
  Rounds(const WorkOptions& work, const MeasureOptions& options)
      : options_(options), device_(work.device), work_(make_work(work)) {
    result_.work = work;
    for (Mode& mode : modes_for(work.model, options.budget, options.policies)) {
      if (is_wanted(mode)) result_.rows.push_back({.mode = std::move(mode)});
    }
  }

  Measurement run() {
    // Loads kernels and makes the libraries' workspaces, which then belong to no mode.
    Row discarded = {.mode = {.name = "first run"}};
    run_mode(discarded);
    const Clock::time_point start = Clock::now();
    for (int round = 0; round < options_.rounds; ++round) {
      if (round >= 2 && options_.seconds > 0 && seconds_since(start) > options_.seconds) break;
      run_round();
      ++result_.rounds;
    }
    return std::move(result_);
  }

 private:
  bool is_wanted(const Mode& mode) const {
    if (options_.only.empty() || mode.name == "plain" || mode.name == "watching") return true;
    return std::any_of(options_.only.begin(), options_.only.end(), [&](const std::string& part) {
      return mode.name.find(part) != std::string::npos;
    });
  }

  void run_round() {
    double plain_seconds = 0;
    for (Row& row : result_.rows) {
      if (!row.failure.empty()) continue;
      std::cerr << "round " << result_.rounds + 1 << ": " << row.mode.name << std::flush;
      const Clock::time_point start = Clock::now();
      run_mode(row);
      if (!row.failure.empty()) {
        std::cerr << ": " << row.failure << "\n";
        continue;
      }
      const double seconds = median(row.step_seconds.back());
      if (&row == &result_.rows.front()) plain_seconds = seconds;
      row.ratios.push_back(seconds / plain_seconds);
      std::cerr << ": " << 1e3 * seconds << " ms, x" << row.ratios.back() << ", in all "
                << seconds_since(start) << " s\n";
    }
  }

  void run_mode(Row& row) {
    const Mode& mode = row.mode;
    work_->begin(mode.checkpoint_blocks);
    empty_cache(device_);
    synchronize(device_);
    reset_peaks(device_);
    row.step_seconds.emplace_back();
    before_ = read_peaks(device_);
    if (mode.has_session) {
      run_in_session(row);
    } else {
      run_steps(row, nullptr);
      note_peaks(row);
    }
    note_plain_peak(row);
    if (row.failure.empty()) {
      compare(row);
    } else {
      check_usable(row);
    }
    work_->end();
  }

  void run_in_session(Row& row) {
    const Mode& mode = row.mode;
    row.budget_bytes =
        mode.budget_bytes + static_cast<std::int64_t>(
                                mode.budget_share * static_cast<double>(result_.plain_peak_bytes));
    const std::string budget = row.budget_bytes == 0 ? "" : std::to_string(row.budget_bytes) + "B";
    Session session({.budget = budget,
                     .device = device_,
                     .means = mode.means,
                     .policy = mode.policy,
                     .wait_for_plans = true,
                     .own_pages = options_.own_pages});
    row.warm_up = {};
    try {
      run_steps(row, &session);
    } catch (const OutOfMemory& error) {
      row.failure = error.what();
      row.smallest_budget_bytes = error.smallest_budget_bytes();
    } catch (const std::exception& error) {
      row.failure = error.what();
    }
    row.session = session.stats();
    row.timed_peak_bytes = row.session.peak_bytes;
    row.session.peak_bytes = std::max(row.warm_up.peak_bytes, row.session.peak_bytes);
    row.session.reserved_peak_bytes =
        std::max(row.warm_up.reserved_peak_bytes, row.session.reserved_peak_bytes);
    // The end of the session brings back all that it moved, over the budget if need be.
    note_peaks(row);
  }

  void run_steps(Row& row, Session* session) {
    row.timed_steps = options_.timed_steps;
    for (int i = 0; i < options_.warm_up_steps + options_.timed_steps; ++i) {
      synchronize(device_);
      if (i == options_.warm_up_steps) end_warm_up(row, session);
      const double processor_start = processor_seconds();
      const Clock::time_point start = Clock::now();
      run_step(session);
      const double host_seconds = seconds_since(start);
      const double on_processor = processor_seconds() - processor_start;
      synchronize(device_);
      const double seconds = seconds_since(start);
      if (options_.says_each_step && session != nullptr) say(i, seconds, session->stats());
      if (i < options_.warm_up_steps) continue;
      row.step_seconds.back().push_back(seconds);
      row.host_seconds.push_back(host_seconds);
      row.processor_seconds.push_back(on_processor);
    }
    const bool is_last = &row == &result_.rows.back();
    if (is_last && !options_.timeline.empty()) write_timeline(session);
  }

  // Counts are since the session began.
  static void say(int step, double seconds, const SessionStats& so_far) {
    std::cerr << base::printed(
        "  step %d: %.1f ms, so far %lld stitches, %lld relocations, %lld shortages, "
        "%lld evictions, %lld plans\n",
        step, seconds * 1e3, static_cast<long long>(so_far.stitches),
        static_cast<long long>(so_far.relocations), static_cast<long long>(so_far.shortages),
        static_cast<long long>(so_far.evictions), static_cast<long long>(so_far.plans));
  }

  void run_step(Session* session) {
    if (session != nullptr) {
      session->step([this] { work_->step(); });
    } else {
      work_->step();
    }
  }

  // Beside the timed ones, which it would slow down.
  void write_timeline(Session* session) {
    const Timeline timeline(options_.timeline);
    run_step(session);
    synchronize(device_);
  }

  void end_warm_up(Row& row, Session* session) {
    note_peaks(row);
    before_ = read_peaks(device_);
    if (session == nullptr) return;
    row.warm_up = session->stats();
    session->reset_peaks();
  }

  void note_peaks(Row& row) {
    const DeviceMemory now = read_peaks(device_);
    DeviceMemory& torch = row.torch;
    torch.allocated_peak_bytes = std::max(torch.allocated_peak_bytes, now.allocated_peak_bytes);
    torch.reserved_peak_bytes = std::max(torch.reserved_peak_bytes, now.reserved_peak_bytes);
    torch.cache_flushes = now.cache_flushes - before_.cache_flushes;
    torch.failures = now.failures - before_.failures;
  }

  // Torch does not count on the CPU; there, what a session without budget saw stands for plain.
  void note_plain_peak(const Row& row) {
    const char* measured = device_ == "cpu" ? "watching" : "plain";
    if (row.mode.name != measured) return;
    const std::int64_t peak =
        device_ == "cpu" ? row.session.peak_bytes : row.torch.allocated_peak_bytes;
    result_.plain_peak_bytes = std::max(result_.plain_peak_bytes, peak);
  }

  // After a step that failed, all tensors must be there again.
  void check_usable(Row& row) {
    try {
      static_cast<void>(work_->outcome());
    } catch (const std::exception& error) {
      row.is_usable_after = false;
      std::cerr << "\n" << error.what();
      work_ = make_work(result_.work);
    }
  }

  void compare(Row& row) {
    const Outcome outcome = work_->outcome();
    if (!expected_) {
      expected_ = outcome;
      return;
    }
    row.losses_match = row.losses_match && outcome.losses == expected_->losses;
    row.parameters_match = row.parameters_match && outcome.parameters == expected_->parameters;
    row.buffers_match = row.buffers_match && outcome.buffers == expected_->buffers;
    if (row.mode.name == "plain") result_.plain_repeats = row.matches();
  }

  const MeasureOptions options_;
  const std::string device_;
  std::unique_ptr<Work> work_;
  // What torch had counted before the mode began, then before its timed steps.
  DeviceMemory before_;
  // Of the first run, which is plain too.
  std::optional<Outcome> expected_;
  Measurement result_;
};

}  // namespace

Measurement measure(const WorkOptions& work, const MeasureOptions& options) {
  set_numerics(work);
  return Rounds(with_defaults(work), options).run();
}

std::vector<std::string> broken_promises(const Measurement& measurement) {
  std::vector<std::string> broken;
  if (!measurement.plain_repeats) broken.emplace_back("plain does not repeat itself");
  for (const Row& row : measurement.rows) {
    if (!row.mode.has_session) continue;
    const auto add = [&](const std::string& what) {
      broken.push_back(row.mode.name + ": " + what);
    };
    if (!row.failure.empty() && !row.is_refused()) add("failed: " + row.failure);
    if (!row.matches()) add("not the bits of plain");
    if (!row.is_usable_after) add("tensors were lost after the refusal");
    // What is refused may have been too much from the start.
    if (row.budget_bytes == 0 || row.is_refused()) continue;
    if (row.session.peak_bytes > row.budget_bytes) add("held more than the budget");
    if (row.torch.allocated_peak_bytes > row.budget_bytes) add("torch allocated over the budget");
    if (row.torch.reserved_peak_bytes > row.budget_bytes) add("torch reserved over the budget");
  }
  return broken;
}

double median(const std::vector<double>& values) { return base::median(values).value_or(0); }

}  // namespace lowtide::bench
