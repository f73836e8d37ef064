// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "brute_force.h"

#include <algorithm>
#include <functional>
#include <limits>
#include <queue>
#include <unordered_map>
#include <utility>
#include <vector>

#include "path_plan.h"
#include "replay_model.h"

namespace lowtide::oracle {
namespace {

// How good a way is after one more step: less is better. Never less than before.
using Extend = std::function<double(double so_far, const Step& step)>;

// Dijkstra's search over the states of the model.
class Search {
 public:
  Search(const ReplayModel& model, std::int64_t budget_bytes, Extend extend)
      : model_(model), budget_bytes_(budget_bytes), extend_(std::move(extend)) {}

  // The best value of any way to the end, and the way itself; nothing if there is none.
  std::optional<std::pair<double, std::vector<Step>>> run(double at_start) {
    const State start = model_.start();
    if (model_.bytes(start.there) > budget_bytes_) return std::nullopt;
    reach(start, at_start, {}, start.key());
    while (!queue_.empty()) {
      const auto [value, state] = queue_.top();
      queue_.pop();
      Visit& visit = visits_.at(state.key());
      if (visit.is_done) continue;
      visit.is_done = true;
      if (model_.is_done(state)) return std::pair{value, way_to(state, start)};
      for (const Step& step : model_.steps(state)) {
        if (step.moment_bytes > budget_bytes_) continue;
        reach(step.to, extend_(value, step), step, state.key());
      }
    }
    return std::nullopt;
  }

 private:
  struct Visit {
    double value = std::numeric_limits<double>::infinity();
    bool is_done = false;
    Step step;
    std::uint64_t from = 0;
  };
  struct Entry {
    double value;
    State state;
    // Among equals those that are further on first: it ends the search earlier.
    bool operator<(const Entry& other) const {
      if (value != other.value) return value > other.value;
      return state.tick < other.state.tick;
    }
  };

  void reach(const State& state, double value, const Step& step, std::uint64_t from) {
    Visit& visit = visits_[state.key()];
    if (visit.value <= value) return;
    visit.value = value;
    visit.step = step;
    visit.from = from;
    queue_.push({value, state});
  }

  std::vector<Step> way_to(const State& end, const State& start) const {
    std::vector<Step> way;
    for (std::uint64_t key = end.key(); key != start.key();) {
      const Visit& visit = visits_.at(key);
      way.push_back(visit.step);
      key = visit.from;
    }
    std::reverse(way.begin(), way.end());
    return way;
  }

  const ReplayModel& model_;
  std::int64_t budget_bytes_;
  Extend extend_;
  std::unordered_map<std::uint64_t, Visit> visits_;
  std::priority_queue<Entry> queue_;
};

}  // namespace

std::optional<Optimum> cheapest_replays(const Trace& trace, std::int64_t budget_bytes) {
  const NaturalLives lives(trace, NaturalLives::traced_order(trace));
  const ReplayModel model(trace, lives);
  Search search(model, budget_bytes,
                [](double so_far, const Step& step) { return so_far + step.seconds; });
  const auto found = search.run(0);
  if (!found) return std::nullopt;
  Optimum optimum;
  optimum.replay_seconds = found->first;
  optimum.peak_bytes = model.bytes(model.start().there);
  for (const Step& step : found->second) {
    optimum.peak_bytes = std::max(optimum.peak_bytes, step.moment_bytes);
  }
  optimum.plan = plan_of_path(trace, lives, model.start(), found->second);
  optimum.plan.budget_bytes = budget_bytes;
  return optimum;
}

std::int64_t smallest_budget(const Trace& trace) {
  const NaturalLives lives(trace, NaturalLives::traced_order(trace));
  const ReplayModel model(trace, lives);
  // Sizes are small, so that they are exact as doubles.
  Search search(model, std::numeric_limits<std::int64_t>::max(),
                [](double so_far, const Step& step) {
                  return std::max(so_far, static_cast<double>(step.moment_bytes));
                });
  const auto found = search.run(static_cast<double>(model.bytes(model.start().there)));
  return static_cast<std::int64_t>(found.value().first);
}

}  // namespace lowtide::oracle
