// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "report/advice.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <optional>

#include "base/bytes.h"
#include "base/check.h"

namespace lowtide::report {
namespace {

using base::concat;
using base::format_bytes;
using base::format_seconds;

// What is not worth a word: shares of the step's time or of its peak.
constexpr double kWorthTime = 0.02;
constexpr double kWorthMemory = 0.1;
// A cheaper budget may cost this share of the step's time.
constexpr double kHardlySlower = 0.01;

std::string percent(double share) {
  if (share > 0 && share < 0.0005) return "less than 0.1 %";
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.*f %%", share < 0.0995 ? 1 : 0, share * 100);
  return text.data();
}

double ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }
double ratio(std::int64_t part, std::int64_t whole) {
  return ratio(static_cast<double>(part), static_cast<double>(whole));
}

// Grows with the batch, as far as that can be told from the kind.
std::int64_t batch_bytes(const Peak& peak) {
  return peak.of(StorageKind::kActivation) + peak.of(StorageKind::kTemporary) +
         peak.of(StorageKind::kInput);
}

class Adviser {
 public:
  Adviser(const Study& study, const Peak& peak, const std::vector<Alternative>& prices)
      : study_(study), peak_(peak), prices_(prices) {}

  std::vector<Advice> advise() {
    advise_budget();
    advise_batch();
    advise_precision();
    advise_on_stalls();
    advise_on_states();
    advise_on_workspace();
    return std::move(advice_);
  }

 private:
  void add(std::string title, std::string reason) {
    advice_.push_back({std::move(title), std::move(reason)});
  }

  const Timeline& after() const { return study_.after().timeline; }
  std::int64_t budget() const { return study_.record.step_budget_bytes(); }

  void advise_budget() {
    if (study_.refusal) {
      add(concat("Give it ", format_bytes(smallest_budget())),
          concat("No plan keeps ", format_bytes(budget()), ": ", study_.refusal->reason, "."));
      return;
    }
    if (budget() == 0) return;
    if (budget() >= study_.memory.plain_peak_bytes) {
      add("Nothing has to be done for this budget",
          concat("The step takes ", format_bytes(study_.memory.plain_peak_bytes), " of ",
                 format_bytes(budget()), " as it is."));
      return;
    }
    advise_more_budget();
    advise_less_budget();
  }

  std::int64_t smallest_budget() const {
    return study_.refusal->smallest_budget_bytes + study_.record.outside_bytes;
  }

  // The step of the curve that saves most time for its bytes.
  void advise_more_budget() {
    const Alternative* best = nullptr;
    double best_rate = 0;
    for (const Alternative& point : prices_) {
      if (point.refusal || point.budget_bytes <= budget()) continue;
      const double rate =
          (after().seconds - point.seconds) / static_cast<double>(point.budget_bytes - budget());
      if (rate <= best_rate) continue;
      best = &point;
      best_rate = rate;
    }
    if (best == nullptr) return;
    const double saved = after().seconds - best->seconds;
    if (ratio(saved, after().seconds) < kWorthTime) return;
    add(concat("A budget of ", format_bytes(best->budget_bytes + study_.record.outside_bytes)),
        concat(format_bytes(best->budget_bytes - budget()), " more would save ",
               format_seconds(saved), " a step (", percent(ratio(saved, after().seconds)), ")."));
  }

  void advise_less_budget() {
    for (const Alternative& point : prices_) {
      if (point.refusal || point.budget_bytes >= budget()) continue;
      const double cost = point.seconds - after().seconds;
      if (ratio(cost, after().seconds) > kHardlySlower) continue;
      add(concat(format_bytes(point.budget_bytes + study_.record.outside_bytes), " would do, too"),
          concat("That frees ", format_bytes(budget() - point.budget_bytes), " and costs ",
                 cost <= 0 ? std::string("no time")
                           : concat(format_seconds(cost), " a step (",
                                    percent(ratio(cost, after().seconds)), ")"),
                 "."));
      return;
    }
  }

  void advise_batch() {
    const std::int64_t batch = study_.record.batch;
    const std::int64_t growing = batch_bytes(peak_);
    if (batch < 2 || is_cheap() || growing == 0) return;
    const std::int64_t fixed = peak_.bytes - growing;
    const std::int64_t each = std::max<std::int64_t>(growing / batch, 1);
    const std::int64_t fitting = (budget() - fixed) / each;
    if (fitting < 1 || fitting >= batch) return;
    add(concat("A batch of ", fitting, " instead of ", batch),
        concat("At the plain peak an example takes ", format_bytes(each), ", the rest ",
               format_bytes(fixed), ": so many examples should fit with nothing moved or ",
               "recomputed.",
               study_.planned ? concat(" With ", batch, " the budget costs ", percent(overhead()),
                                       " of the step's time.")
                              : std::string()));
  }

  // A trace has no types, but autocast leaves casts of parameters in the forward pass.
  bool casts_parameters() const {
    const Trace& trace = study_.trace();
    return std::any_of(trace.ops().begin(), trace.ops().end(), [&](const Op& op) {
      if (op.phase != Phase::kForward || op.name.find("to_copy") == std::string::npos) return false;
      return std::any_of(op.reads.begin(), op.reads.end(), [&](const Use& use) {
        return trace.storage_of(use.value).kind == StorageKind::kParameter;
      });
    });
  }

  // The budget is kept at next to no cost, so there is no need to change anything for it.
  bool is_cheap() const {
    if (budget() == 0 || budget() >= peak_.bytes) return true;
    return study_.planned && overhead() < kWorthTime;
  }

  double overhead() const {
    return std::max(0.0, ratio(after().seconds, study_.plain.timeline.seconds) - 1);
  }

  void advise_precision() {
    const std::int64_t halved =
        (peak_.of(StorageKind::kActivation) + peak_.of(StorageKind::kTemporary)) / 2;
    if (is_cheap() || casts_parameters() || ratio(halved, peak_.bytes) < 2 * kWorthMemory) return;
    const std::int64_t left = peak_.bytes - halved;
    add("Mixed precision (AMP), if it runs in single precision now",
        concat(
            "No parameter is cast in the forward pass. Activations in half the bytes would take ",
            format_bytes(halved), " off the plain peak, which leaves ", format_bytes(left),
            left <= budget() ? ", and that fits." : "."));
  }

  void advise_on_stalls() {
    const auto stalled = [&](StallCause cause) {
      return after().stall_seconds[static_cast<std::size_t>(cause)];
    };
    const double for_copies =
        stalled(StallCause::kFetch) + stalled(StallCause::kRoom) + stalled(StallCause::kCopy);
    if (study_.planned && ratio(for_copies, after().seconds) > kWorthTime) {
      add("The link is the bottleneck",
          concat("The device waits ", format_seconds(for_copies), " a step (",
                 percent(ratio(for_copies, after().seconds)),
                 ") for copies; the busiest direction ", "is in use ", percent(busiest_link()),
                 " of the time."));
    }
    const double for_host =
        study_.plain.timeline.stall_seconds[static_cast<std::size_t>(StallCause::kHost)];
    const double share = ratio(for_host, study_.plain.timeline.seconds);
    if (share < 0.2) return;
    add("A larger batch would cost less than it seems",
        concat("The device waits for the host ", percent(share),
               " of the plain step: its ops are too small to keep it busy."));
  }

  double busiest_link() const {
    double most = 0;
    for (const LinkUse& link : after().links) most = std::max(most, link.busy_seconds);
    return ratio(most, after().seconds);
  }

  void advise_on_states() {
    const std::int64_t states = peak_.of(StorageKind::kState);
    const double share = ratio(states, peak_.bytes);
    if (share < 2 * kWorthMemory) return;
    add("An optimizer with smaller states",
        concat("They are ", format_bytes(states), ", ", percent(share), " of the plain peak."));
  }

  void advise_on_workspace() {
    std::int64_t workspace = 0;
    // The op's own; those that libraries keep are storages.
    for (const Peak::Item& item : peak_.items) workspace += item.storage.valid() ? 0 : item.bytes;
    const double share = ratio(workspace, peak_.bytes);
    if (share < kWorthMemory) return;
    add(concat("Another algorithm for ", study_.trace().op_name(peak_.running)),
        concat("Its workspace is ", format_bytes(workspace), ", ", percent(share),
               " of the plain peak."));
  }

  const Study& study_;
  const Peak& peak_;
  const std::vector<Alternative>& prices_;
  std::vector<Advice> advice_;
};

}  // namespace

std::vector<Advice> advise(const Study& study, const Peak& peak,
                           const std::vector<Alternative>& prices) {
  return Adviser(study, peak, prices).advise();
}

}  // namespace lowtide::report
