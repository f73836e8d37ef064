// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "policy/recompute/room_search.h"

#include <algorithm>
#include <utility>

#include "base/bytes.h"
#include "base/check.h"
#include "policy/gap_writer.h"

namespace lowtide::policy {
namespace {

// How many rooms above the largest that fits are tried as well: those next to it, and as many all
// the way up as a step of a thousand ops allows; longer ones get fewer. And the smallest of all,
// where none fits.
constexpr std::size_t kNeighbours = 6;
constexpr std::size_t kFurtherOfThousand = 24;
constexpr std::size_t kSmallest = 12;

class Searcher {
 public:
  Searcher(const Problem& problem, const RoomSearch& search)
      : problem_(problem), search_(search), smallest_peak_(search.plain_peak_bytes) {}

  PlanOutcome run() {
    std::size_t fits = 0;
    std::size_t too_large = search_.rooms.size();
    while (fits < too_large) {
      const std::size_t middle = fits + (too_large - fits) / 2;
      if (try_room(middle)) {
        fits = middle + 1;
      } else {
        too_large = middle;
      }
    }
    try_above(fits + 1);
    for (std::size_t i = 0; i < kSmallest && !best_; ++i) try_room(i);
    if (best_) return *std::move(best_);
    return Refusal{base::concat("the smallest peak of any way through the stages is ",
                                base::format_bytes(smallest_peak_)),
                   smallest_peak_};
  }

 private:
  // The model's cheaper answers may fit too: it is the truth that counts, not the room.
  void try_above(std::size_t first) {
    for (std::size_t i = first; i < first + kNeighbours; ++i) try_room(i);
    first += kNeighbours;
    if (first >= search_.rooms.size()) return;
    const std::size_t left = search_.rooms.size() - first;
    const std::size_t ops = problem_.trace->ops().size();
    const std::size_t tries =
        std::min({left, kFurtherOfThousand, kFurtherOfThousand * 1000 / (ops + 1)});
    for (std::size_t i = 0; i < tries; ++i) try_room(first + i * left / tries);
  }

  bool try_room(std::size_t index) {
    if (index >= search_.rooms.size()) return false;
    auto actions = search_.write(search_.rooms[index]);
    if (!actions) return false;
    WrittenPlan written;
    written.actions = *std::move(actions);
    Plan plan = finish_plan(problem_, search_.policy, std::move(written));
    const Verdict verdict = verify(problem_, plan);
    smallest_peak_ = std::min(smallest_peak_, verdict.peak_bytes);
    if (verdict.peak_bytes > problem_.budget_bytes) return false;
    LT_CHECK(verdict.ok(), "a written way is right: ", verdict.violations.front().message);
    const double cost = search_.cost(plan);
    if (best_ && cost >= best_cost_) return true;
    best_cost_ = cost;
    best_ = std::move(plan);
    return true;
  }

  const Problem& problem_;
  const RoomSearch& search_;
  std::optional<Plan> best_;
  double best_cost_ = 0;
  std::int64_t smallest_peak_;
};

}  // namespace

PlanOutcome search_rooms(const Problem& problem, const RoomSearch& search) {
  return Searcher(problem, search).run();
}

}  // namespace lowtide::policy
