// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
//
// Training deep nets with sublinear memory cost (Chen et al., 2016). The forward pass is cut into
// segments; the values that cross a cut are kept, the rest is dropped once the forward pass is done
// with it and replayed when the backward pass needs it.
//
// Two forms. Segments (their section 4.2, uneven sizes): walk the forward pass and cut at the next
// candidate once the bytes since the last cut exceed a limit; the limit is searched. Recursive
// (their section 4.3): replays keep only the cuts of the next level, g(n) = k + g(n / (k + 1)).
//
// Departures. Their cut candidates are the articulation points of a graph; we take the places that
// fewest values cross, so that nets with long skips have candidates too. The last segment is not
// dropped: the backward pass would replay it at once.
//
// Limits: a segment comes back as a whole when the backward pass comes to it, however little of it
// is too much, and costs of ops do not count: only bytes say where to cut. Nothing is moved.
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "base/bytes.h"
#include "base/check.h"
#include "plan/bounds.h"
#include "plan/replay_reach.h"
#include "plan/source_holds.h"
#include "policy/factories.h"
#include "policy/gap_writer.h"
#include "policy/option_reader.h"
#include "policy/recompute/forward_pass.h"

namespace lowtide::policy {
namespace {

using trace::Tick;

constexpr std::int64_t kMaxBranch = 64;

enum class Form { kAuto, kSegments, kRecursive };

struct SublinearOptions {
  Form form = Form::kAuto;
  std::int64_t branch = 1;
  std::int64_t tries = 24;
};

class Planner {
 public:
  Planner(const Problem& problem, const SublinearOptions& options)
      : problem_(problem),
        trace_(*problem.trace),
        options_(options),
        lifetimes_(*trace_.lifetimes()),
        costs_(trace_, problem.machine),
        holds_(plan::hold_sources(problem, lifetimes_, costs_)),
        pass_(trace_, lifetimes_, plan::ReplayReach(trace_, lifetimes_, holds_)) {}

  PlanOutcome plan() {
    try_decisions(GapDecisions{});
    if (options_.form != Form::kRecursive) try_segments();
    if (options_.form == Form::kRecursive) try_decisions(recursive(options_.branch));
    if (options_.form == Form::kAuto && !best_) try_recursive();
    if (best_) {
      auto written = write_gaps(problem_, lifetimes_, costs_, *best_, max_replays());
      LT_CHECK(written, "what was weighed can be written");
      return finish_plan(problem_, "sublinear", *std::move(written));
    }
    return Refusal{.reason = base::concat("the smallest peak of any segment size is ",
                                          base::format_bytes(smallest_peak_)),
                   .smallest_budget_bytes = smallest_peak_};
  }

 private:
  // Cuts after the first candidate at which the bytes made since the last cut exceed the limit.
  std::vector<Tick> cut_by_bytes(double limit_bytes) const {
    std::vector<Tick> cuts;
    double bytes = 0;
    std::size_t next = 0;
    for (const Tick candidate : pass_.candidates) {
      for (; next < pass_.values.size() && lifetimes_.of(pass_.values[next]).born <= candidate;
           ++next) {
        bytes += static_cast<double>(costs_.value(pass_.values[next]));
      }
      if (bytes <= limit_bytes) continue;
      cuts.push_back(candidate);
      bytes = 0;
    }
    return cuts;
  }

  bool crosses_any(std::size_t index, const std::vector<Tick>& cuts) const {
    // The first cut at or after birth decides: a value that is still needed there is kept.
    const Tick born = lifetimes_.of(pass_.values[index]).born;
    const auto cut = std::lower_bound(cuts.begin(), cuts.end(), born);
    return cut != cuts.end() && *cut < pass_.last_forward[index];
  }

  // Drops everything made before `stop` that crosses no cut.
  GapDecisions drop_between(const std::vector<Tick>& cuts, Tick stop) const {
    GapDecisions decisions;
    decisions.holds = holds_;
    for (std::size_t i = 0; i < pass_.values.size(); ++i) {
      const trace::Lifetime& life = lifetimes_.of(pass_.values[i]);
      const bool lives_on = life.dies > pass_.last_forward[i];
      if (lives_on && life.born <= stop && !crosses_any(i, cuts)) {
        decisions.drops.push_back({pass_.values[i], pass_.last_forward[i]});
      }
    }
    return decisions;
  }

  GapDecisions segments(const std::vector<Tick>& cuts) const {
    GapDecisions decisions = drop_between(cuts, cuts.empty() ? -1 : cuts.back());
    decisions.keep_replayed = [](ValueId, Tick, Tick) { return true; };
    hold_crossing(cuts, decisions);
    return decisions;
  }

  // A value that crosses a cut may die within the forward pass; the replays of the segment behind
  // the cut start from it, so it is held until the last of them.
  void hold_crossing(const std::vector<Tick>& cuts, GapDecisions& decisions) const {
    std::vector<Tick> needed_until(cuts.size() + 1, -1);
    for (std::size_t i = 0; i < pass_.values.size(); ++i) {
      if (pass_.first_later[i] > lifetimes_.end()) continue;
      const Tick born = lifetimes_.of(pass_.values[i]).born;
      const auto segment =
          static_cast<std::size_t>(std::lower_bound(cuts.begin(), cuts.end(), born) - cuts.begin());
      needed_until[segment] = std::max(needed_until[segment], pass_.first_later[i]);
    }
    for (std::size_t i = 0; i < pass_.values.size(); ++i) {
      const trace::Lifetime& life = lifetimes_.of(pass_.values[i]);
      if (!crosses_any(i, cuts)) continue;
      const auto cut = static_cast<std::size_t>(
          std::lower_bound(cuts.begin(), cuts.end(), pass_.last_forward[i]) - cuts.begin());
      // It is an input of the segment that holds its last forward reader, and of those before.
      const Tick until = cut + 1 < needed_until.size() ? needed_until[cut] : -1;
      if (life.dies < until) decisions.holds.push_back({pass_.values[i], until});
    }
  }

  void try_segments() {
    double total = 0;
    for (const ValueId value : pass_.values) total += static_cast<double>(costs_.value(value));
    std::vector<Tick> last_cuts;
    for (std::int64_t i = 1; i <= options_.tries; ++i) {
      // From the whole pass down to one part in four times as many as there are tries squared: a
      // geometric ladder, since a peak depends on the ratio of limits.
      const double share = static_cast<double>(i) / static_cast<double>(options_.tries);
      const double limit = total * std::pow(1e-3, share);
      std::vector<Tick> cuts = cut_by_bytes(limit);
      if (cuts == last_cuts) continue;
      try_decisions(segments(cuts));
      last_cuts = std::move(cuts);
    }
  }

  // The cuts that a pass over first..last keeps in the recursive form: k that divide the range,
  // then k that divide its last part, and so on.
  std::vector<Tick> recursive_cuts(Tick first, Tick last, std::int64_t branch) const {
    std::vector<Tick> cuts;
    auto low = std::lower_bound(pass_.candidates.begin(), pass_.candidates.end(), first);
    const auto high = std::lower_bound(pass_.candidates.begin(), pass_.candidates.end(), last);
    const std::int64_t parts = branch + 1;
    while (high - low >= parts) {
      const auto begin = low;
      for (std::int64_t j = 1; j < parts; ++j) {
        low = begin + (high - begin) * j / parts;
        cuts.push_back(*low);
      }
      ++low;
    }
    // A part with no more candidates than cuts keeps them all: g(n) = n for n <= k.
    cuts.insert(cuts.end(), low, high);
    return cuts;
  }

  // Few cuts on each level save most and cost most, so that all are worth a try.
  void try_recursive() {
    for (std::int64_t branch = options_.branch; branch <= kMaxBranch; branch *= 2) {
      try_decisions(recursive(branch));
    }
  }

  GapDecisions recursive(std::int64_t branch) const {
    const std::vector<Tick> kept = recursive_cuts(0, pass_.end, branch);
    GapDecisions decisions = drop_between(kept, kept.empty() ? -1 : kept.back());
    std::vector<std::int32_t> index_of(trace_.values().size(), -1);
    for (std::size_t i = 0; i < pass_.values.size(); ++i) {
      index_of[pass_.values[i].slot()] = static_cast<std::int32_t>(i);
    }
    decisions.keep_replayed = [this, branch, index_of = std::move(index_of),
                               range = std::pair<Tick, Tick>{}, cuts = std::vector<Tick>{}](
                                  ValueId value, Tick first, Tick last) mutable {
      const std::int32_t index = index_of[value.slot()];
      if (index < 0) return true;
      if (range != std::pair{first, last}) {
        range = {first, last};
        cuts = recursive_cuts(first, last, branch);
      }
      return crosses_any(static_cast<std::size_t>(index), cuts);
    };
    return decisions;
  }

  std::int64_t max_replays() const {
    return 64 * static_cast<std::int64_t>(trace_.ops().size()) + 1000;
  }

  void try_decisions(GapDecisions decisions) {
    const std::optional<WrittenPlan> weighed =
        weigh_gaps(problem_, lifetimes_, costs_, decisions, max_replays());
    if (!weighed) return;
    smallest_peak_ = std::min(smallest_peak_, weighed->peak_bytes);
    if (weighed->peak_bytes > problem_.budget_bytes) return;
    if (best_ && weighed->replay_seconds >= best_seconds_) return;
    best_ = std::move(decisions);
    best_seconds_ = weighed->replay_seconds;
  }

  const Problem& problem_;
  const Trace& trace_;
  SublinearOptions options_;
  const trace::Lifetimes& lifetimes_;
  cost::CostTable costs_;
  std::vector<plan::ExtendedLife> holds_;
  ForwardPass pass_;
  std::optional<GapDecisions> best_;
  double best_seconds_ = 0;
  std::int64_t smallest_peak_ = std::numeric_limits<std::int64_t>::max();
};

class Sublinear final : public Policy {
 public:
  explicit Sublinear(const SublinearOptions& options) : options_(options) {}
  PlanOutcome plan(const Problem& problem) const override {
    PlanOutcome outcome = Planner(problem, options_).plan();
    if (auto* refusal = std::get_if<Refusal>(&outcome)) {
      refusal->smallest_budget_bytes = find_smallest(problem, refusal->smallest_budget_bytes);
    }
    return outcome;
  }

 private:
  // Which sources are held depends on the budget, so a peak that was reached under this one need
  // not be reached under a budget of that size. Each further try asks for more, and none for more
  // than the plain peak, under which nothing is held.
  std::int64_t find_smallest(const Problem& problem, std::int64_t reached_bytes) const {
    Problem larger = problem;
    while (true) {
      larger.budget_bytes = reached_bytes;
      const PlanOutcome outcome = Planner(larger, options_).plan();
      const auto* refusal = std::get_if<Refusal>(&outcome);
      if (refusal == nullptr) return reached_bytes;
      reached_bytes = refusal->smallest_budget_bytes;
    }
  }

  SublinearOptions options_;
};

}  // namespace

std::unique_ptr<Policy> make_sublinear(const PolicyOptions& options) {
  OptionReader reader("sublinear", options);
  SublinearOptions parsed;
  parsed.form = reader.choice<Form>(
      "form", parsed.form,
      {{"auto", Form::kAuto}, {"segments", Form::kSegments}, {"recursive", Form::kRecursive}});
  parsed.branch = reader.integer("branch", parsed.branch, 1, kMaxBranch);
  parsed.tries = reader.integer("tries", parsed.tries, 1, 1000);
  reader.finish();
  return std::make_unique<Sublinear>(parsed);
}

}  // namespace lowtide::policy
