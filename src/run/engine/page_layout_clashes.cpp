// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
//
// The part of a layout that finds out which blocks can stay where they lie.
#include <algorithm>
#include <utility>

#include "run/engine/page_layout.h"

namespace lowtide::engine {
namespace {

using Runs = PageLayout::Runs;

struct LifeEvent {
  int event;
  // What dies at an event is gone for what is born at it.
  bool is_birth;
  std::size_t block;
  auto operator<=>(const LifeEvent&) const = default;
};

// Births and deaths of a step, in order; what lives on into the step is born before all else.
std::vector<LifeEvent> life_events(const std::vector<RecurringBlock>& blocks) {
  std::vector<LifeEvent> events;
  for (std::size_t i = 0; i < blocks.size(); ++i) {
    const auto [units, begin, end] = blocks[i];
    if (!blocks[i].is_known()) continue;
    if (end <= begin) events.push_back({-1, true, i});
    events.push_back({end, false, i});
    events.push_back({begin, true, i});
  }
  std::sort(events.begin(), events.end());
  return events;
}

// One step from its begin to its end: who lies in each unit.
class Walk {
 public:
  Walk(const std::vector<Runs>& places, const LayoutSpace& space)
      : places_(places), clashes_(places.size(), false), units_(at(space.units)) {
    for (const UnitRun& run : space.taken) {
      for (std::int64_t i = 0; i < run.count; ++i) units_[at(run.first + i)].is_taken = true;
    }
  }

  void birth(std::size_t block) {
    for (const UnitRun& run : places_[block]) {
      // Its pages may have been given back.
      if (run.first + run.count > there()) clashes_[block] = true;
      for (std::int64_t i = run.first; i < std::min(run.first + run.count, there()); ++i) {
        Unit& unit = units_[at(i)];
        if (unit.is_taken) clashes_[block] = true;
        if (unit.blocks++ > 0) {
          clashes_[block] = true;
          // Whoever else is there has clashed with the last one before.
          clashes_[unit.last] = true;
        }
        unit.last = block;
      }
    }
  }
  void death(std::size_t block) {
    for (const UnitRun& run : places_[block]) {
      for (std::int64_t i = run.first; i < std::min(run.first + run.count, there()); ++i) {
        --units_[at(i)].blocks;
      }
    }
  }
  std::vector<bool> clashes() && { return std::move(clashes_); }

 private:
  struct Unit {
    bool is_taken = false;
    int blocks = 0;
    std::size_t last = 0;
  };
  std::int64_t there() const { return static_cast<std::int64_t>(units_.size()); }
  static std::size_t at(std::int64_t unit) { return static_cast<std::size_t>(unit); }

  const std::vector<Runs>& places_;
  std::vector<bool> clashes_;
  std::vector<Unit> units_;
};

}  // namespace

// Of each block, whether something is in its place while it lives.
std::vector<bool> PageLayout::find_clashes(const std::vector<Runs>& places) const {
  Walk walk(places, space_);
  for (const LifeEvent& event : life_events(blocks_)) {
    if (event.is_birth) {
      walk.birth(event.block);
    } else {
      walk.death(event.block);
    }
  }
  return std::move(walk).clashes();
}

}  // namespace lowtide::engine
