// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
//
// The part of the arena that lays the blocks of a repeated step out.
#include <algorithm>
#include <unordered_map>

#include "run/engine/page_arena.h"

namespace lowtide::engine {
namespace {

// What lay elsewhere needs a few steps to come to where it was laid out.
constexpr int kStepsToSettle = 4;
// Twice as many after each further layout, of which there are so many at most.
constexpr int kMostLayouts = 6;
// So many searches in vain, one after the other, are thought bad luck. After that those for steps
// of another kind wait too, twice as long each time: where no two steps in a row are alike for
// long, each kind would have its own.
constexpr int kMostBadLuck = 2;
constexpr int kLongestWait = 10;

}  // namespace

bool PageArena::wants_layout() const {
  if (stitch_count_ + moves_ == makeshifts_before_step_ || !recurring_.is_repeated()) return false;
  const int doublings =
      std::max(layouts_ - 1, std::min(vain_layouts_ - kMostBadLuck - 1, kLongestWait));
  const bool may_be_at_once = layouts_ == 0 && vain_layouts_ <= kMostBadLuck;
  return may_be_at_once ||
         (layouts_ < kMostLayouts && steps_since_layout_ >= kStepsToSettle << doublings);
}

bool PageArena::is_laid_out() const {
  const std::lock_guard lock(mutex_);
  return layout_.has_value();
}

std::int64_t PageArena::layout_searches() const {
  const std::lock_guard lock(mutex_);
  return searches_;
}

void PageArena::drop_layout() {
  layout_.reset();
  forget_staying();
  for (auto& [units, places] : places_) {
    for (Place& place : places.blocks) place.laid_out = {};
  }
}

void PageArena::forget_staying() {
  for (auto& [data, held] : blocks_) held.number_of_staying.reset();
}

// All that is present, less what stays where it is.
LayoutSpace PageArena::space_to_lay_out() const {
  LayoutSpace space = {.units = free_.units(), .units_per_page = units_per_page_, .taken = {}};
  for (std::size_t page = 0; page < is_present_.size(); ++page) {
    if (!is_present_[page]) {
      add_page(space.taken, static_cast<std::int64_t>(page) * units_per_page_);
    }
  }
  for (const auto& [data, held] : blocks_) {
    if (recurring_.recurs(held.birth) || held.number_of_staying) continue;
    space.taken.insert(space.taken.end(), held.runs->begin(), held.runs->end());
  }
  return space;
}

// Parameters and the like lie wherever they came to lie, and may be in the way of all rows. Where
// nothing else helps they are moved too.
void PageArena::add_staying(std::vector<RecurringBlock>& blocks, std::vector<Runs>& now) {
  for (auto& [data, held] : blocks_) {
    if (held.is_fixed || recurring_.recurs(held.birth)) continue;
    held.number_of_staying = blocks.size();
    // From its own beginning to that of the next step: all the time.
    blocks.push_back({units_of(*held.runs), 0, 0});
    now.push_back(*held.runs);
  }
}

// No block can lie across pages that were given back. Free ones come from the end in their stead.
void PageArena::close_holes() {
  const auto is_whole = [this](std::size_t page) {
    return free_.contains({static_cast<std::int64_t>(page) * units_per_page_, units_per_page_});
  };
  std::int64_t pages = 0;
  for (std::size_t hole = 0, page = is_present_.size(); page-- > hole;) {
    if (!is_whole(page)) continue;
    while (hole < page && is_present_[hole]) ++hole;
    if (hole++ < page) ++pages;
  }
  if (pages > 0) fill_holes(give_back(pages));
}

const PageArena::Runs* PageArena::home_of(const Held& held) const {
  if (!layout_) return nullptr;
  if (recurring_.recurs(held.birth)) return &layout_->places()[held.birth.number];
  return held.number_of_staying ? &layout_->places()[*held.number_of_staying] : nullptr;
}

// What comes from here on comes to its place if that is free by then; for what is there now see
// choose_homecomings().
void PageArena::lay_out_blocks() {
  forget_old_stitches();
  ++layouts_;
  steps_since_layout_ = 0;
  layout_digest_ = recurring_.digest();
  std::vector<RecurringBlock> blocks = recurring_.blocks();
  const std::size_t coming_again = blocks.size();
  std::vector<Runs> now;
  for (const RunsP& runs : put_) now.push_back(*runs);
  forget_staying();
  layout_.emplace(blocks, now, space_to_lay_out());
  if (moves_ > 0 && !layout_->is_complete()) {
    close_holes();
    now.assign(blocks.size(), {});
    add_staying(blocks, now);
    layout_.emplace(std::move(blocks), now, space_to_lay_out(),
                    static_cast<std::uint64_t>(layouts_));
  }
  ++searches_;
  // Blocks without a place get into everybody's way. To move some in every step costs less.
  const bool is_vain = moves_ > 0 && !layout_->is_complete();
  vain_layouts_ = is_vain ? vain_layouts_ + 1 : 0;
  if (is_vain) {
    drop_layout();
    return;
  }
  std::unordered_map<std::int64_t, std::size_t> seen;
  for (std::size_t i = 0; i < coming_again; ++i) {
    const std::int64_t units = layout_->blocks()[i].units;
    const std::size_t number = seen[units]++;
    const Runs& runs = layout_->places()[i];
    if (runs.empty() || number >= kMostPlaces) continue;
    std::vector<Place>& places = places_[units].blocks;
    if (places.size() <= number) places.resize(number + 1);
    places[number].laid_out = laid_out_block(units, runs);
    places[number].is_stuck = false;
  }
}

}  // namespace lowtide::engine
