// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "run/engine/page_arena.h"

#include <algorithm>
#include <iterator>

#include "base/check.h"

namespace lowtide::engine {
namespace {

// How many addresses a page has on average at most, besides its home.
constexpr std::int64_t kMostStitchesPerPage = 32;

}  // namespace

PageArena::PageArena(PageMapper& mapper, std::int64_t unit_bytes, std::int64_t most_pages,
                     WaitForDevice wait)
    : mapper_(mapper),
      unit_bytes_(unit_bytes),
      page_bytes_(mapper.page_bytes()),
      units_per_page_(page_bytes_ / unit_bytes),
      most_pages_(most_pages),
      wait_(std::move(wait)),
      free_(units_per_page_) {
  LT_CHECK(page_bytes_ % unit_bytes_ == 0, "a page has a whole number of units");
}

PageArena::~PageArena() {
  if (present_pages_ > 0) shrink(present_pages_);
  if (home_ != 0) mapper_.unreserve(home_, most_pages_);
}

PageArena::Address PageArena::address_of(std::int64_t unit) const {
  return home_ + static_cast<Address>(unit * unit_bytes_);
}

void* PageArena::allocate(std::int64_t bytes, std::int64_t new_pages, bool may_stitch) {
  LT_CHECK(bytes > 0, "a block has a byte at least");
  const std::int64_t units = rounded(bytes) / unit_bytes_;
  const std::lock_guard lock(mutex_);
  Block block = known_place(units);
  if (block.address == 0) block = find_block(units, new_pages, may_stitch);
  if (block.address == 0) return nullptr;
  note_place(units, block);
  for (const Run& run : *block.runs) free_.take(run);
  if (block.stitch != nullptr) block.stitch->last_use = ++clock_;
  void* data = reinterpret_cast<void*>(block.address);
  if (put_.size() < RecurringBlocks::kMostBlocks) put_.push_back(block.runs);
  blocks_.emplace(data, Held{std::move(block.runs), recurring_.born(units)});
  return data;
}

// Where the block should be, or was in the last step; nowhere if that is not free. If it is, then
// whatever is asked for later finds its place too.
PageArena::Block PageArena::known_place(std::int64_t units) {
  const auto known = places_.find(units);
  if (known == places_.end() || known->second.next >= known->second.blocks.size()) return {};
  Place& place = known->second.blocks[known->second.next];
  if (place.laid_out.runs != nullptr) {
    if (is_free(*place.laid_out.runs) || move_elsewhere(place, units)) return place.laid_out;
  }
  return place.last.runs != nullptr && is_free(*place.last.runs) ? place.last : Block{};
}

// Something is in its place that came before all was laid out. If it went to any free place, it
// would be in the way of others, and these of others again.
bool PageArena::move_elsewhere(Place& place, std::int64_t units) {
  const std::size_t number = recurring_.next_number();
  // The layout's own may be more by those that stay.
  const bool is_expected =
      layout_ && number < recurring_.blocks().size() && layout_->blocks()[number].units == units;
  if (!is_expected || place.is_stuck) return false;
  place.is_stuck = !layout_->move_elsewhere(number, taken_runs());
  if (place.is_stuck) return false;
  place.laid_out = block_at(layout_->places()[number].front().first, units);
  return is_free(*place.laid_out.runs);
}

PageArena::Runs PageArena::taken_runs() const {
  Runs taken;
  std::int64_t end = 0;
  for (const auto& [first, count] : free_.by_place()) {
    taken.push_back({end, first - end});
    end = first + count;
  }
  taken.push_back({end, free_.units() - end});
  return taken;
}

void PageArena::note_place(std::int64_t units, const Block& block) {
  Places& places = places_[units];
  if (places.next == kMostPlaces) return;
  if (places.next == places.blocks.size()) places.blocks.emplace_back();
  places.blocks[places.next++].last = block;
}

void PageArena::begin_step() {
  const std::lock_guard lock(mutex_);
  for (auto& [units, places] : places_) {
    places.blocks.resize(places.next);
    places.next = 0;
  }
  recurring_.end_step();
  ++steps_since_layout_;
  if (layouts_ > 0 && recurring_.digest() != layout_digest_) {
    drop_layout();
    layouts_ = 0;
  }
  if (wants_layout()) lay_out_blocks();
  makeshifts_before_step_ = stitch_count_ + moves_;
  put_.clear();
}

// Its address is 0 if there is none.
template <class Predicate>
PageArena::Block PageArena::known_stitch(std::int64_t units, const Predicate& is_wanted) const {
  const auto known = stitches_.find(units);
  if (known == stitches_.end()) return {};
  const auto found = std::find_if(known->second.begin(), known->second.end(),
                                  [&](const auto& stitch) { return is_wanted(*stitch); });
  if (found == known->second.end()) return {};
  return {(*found)->address, (*found)->runs, found->get()};
}

PageArena::Block PageArena::laid_out_block(std::int64_t units, const Runs& runs) {
  if (runs.size() == 1) return block_at(runs.front().first, units);
  const Block block =
      known_stitch(units, [&](const Stitch& stitch) { return *stitch.runs == runs; });
  return block.address != 0 ? block : map_stitch(units, runs);
}

// Its address is 0 if there is none.
PageArena::Block PageArena::find_block(std::int64_t units, std::int64_t new_pages,
                                       bool may_stitch) {
  Block block = find_run(units);
  if (block.address != 0) return block;
  for (bool is_grown = true; is_grown;) {
    // New pages join what is free at the end, so fewer are needed than asked for, unless they fill
    // holes.
    const std::int64_t missing = units - free_at_end(units);
    const std::int64_t missing_pages = (missing + units_per_page_ - 1) / units_per_page_;
    if (missing_pages > new_pages) break;
    const std::int64_t pages_before = present_pages_;
    is_grown = grow(missing_pages);
    // Some may have been made before the device had no more.
    new_pages -= present_pages_ - pages_before;
    if (is_grown) block = find_run(units);
    if (block.address != 0) return block;
  }
  // Two broken pages cost less than a stitch.
  block = find_any_run(units);
  if (block.address != 0 || units < units_per_page_) return block;
  // Even if these are not enough, they are when others have been emptied.
  const std::int64_t short_of =
      std::min(units / units_per_page_ + 1 - free_.free_pages(), new_pages);
  if (short_of > 0) grow(short_of);
  return find_stitch(units, may_stitch);
}

PageArena::Block PageArena::block_at(std::int64_t first, std::int64_t units) const {
  return {address_of(first), std::make_shared<const Runs>(Runs{{first, units}}), nullptr};
}

// In the shortest free run that is long enough, so that small blocks go where a page is broken
// already. Blocks of whole pages begin with a page, so that they break none.
PageArena::Block PageArena::find_run(std::int64_t units) const {
  if (units % units_per_page_ != 0) return find_any_run(units);
  const FreeRuns::ByLength& runs = free_.by_length();
  for (auto run = runs.lower_bound({units, 0}); run != runs.end(); ++run) {
    const auto [length, first] = *run;
    const std::int64_t start = free_.whole_pages_of({first, length}).first;
    if (start + units <= first + length) return block_at(start, units);
  }
  return {};
}

PageArena::Block PageArena::find_any_run(std::int64_t units) const {
  const auto found = free_.by_length().lower_bound({units, 0});
  if (found == free_.by_length().end()) return {};
  return block_at(found->second, units);
}

PageArena::Block PageArena::find_stitch(std::int64_t units, bool may_make) {
  Runs runs = choose_pages(units);
  Block block = known_stitch(units, [&](const Stitch& stitch) { return *stitch.runs == runs; });
  if (block.address == 0) {
    block = known_stitch(units, [&](const Stitch& stitch) { return is_free(*stitch.runs); });
  }
  if (block.address != 0 || runs.empty() || !may_make) return block;
  return make_stitch(units, std::move(runs));
}

PageArena::Block PageArena::make_stitch(std::int64_t units, Runs runs) {
  forget_old_stitches();
  return map_stitch(units, std::move(runs));
}

PageArena::Block PageArena::map_stitch(std::int64_t units, Runs runs) {
  std::vector<PageMapper::Page> mapped;
  for (const Run& run : runs) {
    const std::int64_t first = run.first / units_per_page_;
    const std::int64_t end = (run.first + run.count + units_per_page_ - 1) / units_per_page_;
    mapped.insert(mapped.end(), home_pages_.begin() + first, home_pages_.begin() + end);
  }
  const auto pages = static_cast<std::int64_t>(mapped.size());
  const Address address = mapper_.reserve(pages);
  try {
    mapper_.map(address, mapped);
  } catch (...) {
    mapper_.unreserve(address, pages);
    throw;
  }
  auto stitch = std::make_unique<Stitch>(
      Stitch{address, pages, std::make_shared<const Runs>(std::move(runs)), /*last_use=*/++clock_});
  Block block = {address, stitch->runs, stitch.get()};
  stitches_[units].push_back(std::move(stitch));
  ++stitch_count_;
  stitched_pages_ += pages;
  return block;
}

// Whole pages, and the start of one more for what is left. Empty: there are too few.
PageArena::Runs PageArena::choose_pages(std::int64_t units) const {
  const std::int64_t rest = units % units_per_page_;
  const std::int64_t last = rest == 0 ? -1 : page_with_free_start(rest);
  if (rest != 0 && last < 0) return {};
  Runs runs = whole_pages(units / units_per_page_, last);
  if (runs.empty()) return {};
  if (rest != 0) runs.push_back({last * units_per_page_, rest});
  return runs;
}

// Pages in a row make one run: all that is done with a block is done for each of its runs.
void PageArena::add_page(Runs& runs, std::int64_t unit) const {
  if (!runs.empty() && runs.back().first + runs.back().count == unit) {
    runs.back().count += units_per_page_;
  } else {
    runs.push_back({unit, units_per_page_});
  }
}

// From the shortest runs, so that long ones remain for those who need no stitch.
PageArena::Runs PageArena::whole_pages(std::int64_t pages, std::int64_t except) const {
  Runs runs;
  for (const auto& [length, first] : free_.by_length()) {
    if (length < units_per_page_) continue;
    const Run whole = free_.whole_pages_of({first, length});
    for (std::int64_t unit = whole.first; unit < whole.first + whole.count && pages > 0;
         unit += units_per_page_) {
      if (unit == except * units_per_page_) continue;
      add_page(runs, unit);
      --pages;
    }
    if (pages == 0) return runs;
  }
  return {};
}

// A page that is broken already, with as little as will do; else a whole one. -1: there is none.
std::int64_t PageArena::page_with_free_start(std::int64_t units) const {
  std::int64_t best = -1;
  std::int64_t best_length = units_per_page_ + 1;
  for (const auto& [first, count] : free_.by_place()) {
    const std::int64_t end = first + count;
    const std::int64_t start = end / units_per_page_ * units_per_page_;
    if (start >= first && end - start >= units && end - start < best_length) {
      best = start / units_per_page_;
      best_length = end - start;
    }
    const Run whole = free_.whole_pages_of({first, count});
    if (best < 0 && whole.count > 0) {
      best = whole.first / units_per_page_;
      best_length = units_per_page_;
    }
  }
  return best;
}

std::int64_t PageArena::free(void* block) {
  const std::lock_guard lock(mutex_);
  const auto found = blocks_.find(block);
  if (found == blocks_.end()) return 0;
  std::int64_t units = 0;
  for (const Run& run : *found->second.runs) {
    free_.add(run);
    units += run.count;
  }
  recurring_.died(found->second.birth);
  blocks_.erase(found);
  return units * unit_bytes_;
}

bool PageArena::owns(void* block) const {
  const std::lock_guard lock(mutex_);
  return blocks_.contains(block);
}

bool PageArena::is_free(const Runs& runs) const {
  return std::all_of(runs.begin(), runs.end(),
                     [this](const Run& run) { return free_.contains(run); });
}

// What a block of so many units could use of it.
std::int64_t PageArena::free_at_end(std::int64_t units) const {
  if (free_.by_place().empty()) return 0;
  const auto& [first, count] = *free_.by_place().rbegin();
  if (first + count != free_.units()) return 0;
  return units % units_per_page_ != 0 ? count : free_.whole_pages_of({first, count}).count;
}

// Where pages were given back, so that the row stays in one piece, and then at its end.
bool PageArena::grow(std::int64_t pages) {
  if (home_ == 0) home_ = mapper_.reserve(most_pages_);
  const std::int64_t made = fill_holes(pages);
  const auto end = static_cast<std::int64_t>(home_pages_.size());
  return made + make_pages(end, std::min(pages - made, most_pages_ - end)) == pages;
}

// From the beginning. Returns how many there were room and memory for.
std::int64_t PageArena::fill_holes(std::int64_t pages) {
  std::int64_t made = 0;
  for (std::size_t page = 0; page < is_present_.size() && made < pages; ++page) {
    if (is_present_[page]) continue;
    if (make_pages(static_cast<std::int64_t>(page), 1) == 0) break;
    ++made;
  }
  return made;
}

std::int64_t PageArena::make_pages(std::int64_t first, std::int64_t count) {
  std::vector<PageMapper::Page> made;
  while (static_cast<std::int64_t>(made.size()) < count) {
    const auto page = mapper_.make_page();
    if (!page) break;
    made.push_back(*page);
  }
  const auto number = static_cast<std::int64_t>(made.size());
  if (number == 0) return 0;
  try {
    mapper_.map(address_of(first * units_per_page_), made);
  } catch (...) {
    for (const PageMapper::Page page : made) mapper_.release_page(page);
    throw;
  }
  const std::int64_t end = first + number;
  if (static_cast<std::int64_t>(home_pages_.size()) < end) {
    home_pages_.resize(static_cast<std::size_t>(end), 0);
    is_present_.resize(static_cast<std::size_t>(end), false);
    free_.resize(end * units_per_page_);
  }
  std::copy(made.begin(), made.end(), home_pages_.begin() + first);
  std::fill_n(is_present_.begin() + first, number, true);
  present_pages_ += number;
  free_.add({first * units_per_page_, number * units_per_page_});
  return number;
}

// Requires: the device was waited for.
template <class Predicate>
void PageArena::forget_stitches(const Predicate& is_unwanted) {
  for (auto& [pages, known] : stitches_) {
    std::erase_if(known, [&](const std::unique_ptr<Stitch>& stitch) {
      if (!is_unwanted(*stitch)) return false;
      mapper_.unmap(stitch->address, stitch->pages);
      mapper_.unreserve(stitch->address, stitch->pages);
      stitched_pages_ -= stitch->pages;
      return true;
    });
  }
  // They may name addresses that are gone.
  drop_layout();
  places_.clear();
}

// Which steps no longer need is not known; those unused for longest go, half of them at once, since
// the device is waited for.
void PageArena::forget_old_stitches() {
  if (stitched_pages_ <= kMostStitchesPerPage * present_pages_) return;
  std::vector<std::uint64_t> uses;
  for (const auto& [pages, known] : stitches_) {
    for (const auto& stitch : known) uses.push_back(stitch->last_use);
  }
  const auto middle = uses.begin() + static_cast<std::ptrdiff_t>(uses.size() / 2);
  std::nth_element(uses.begin(), middle, uses.end());
  wait_();
  forget_stitches([&](const Stitch& stitch) {
    return stitch.last_use <= *middle && !blocks_.contains(reinterpret_cast<void*>(stitch.address));
  });
}

std::int64_t PageArena::shrink(std::int64_t pages) {
  const std::lock_guard lock(mutex_);
  return give_back(pages);
}

// Those farthest from the beginning first.
std::int64_t PageArena::give_back(std::int64_t pages) {
  Runs leaving;
  std::int64_t left = pages * units_per_page_;
  const FreeRuns::ByPlace& runs = free_.by_place();
  for (auto run = runs.rbegin(); run != runs.rend() && left > 0; ++run) {
    const Run whole = free_.whole_pages_of({run->first, run->second});
    const std::int64_t count = std::min(left, whole.count);
    if (count > 0) leaving.push_back({whole.first + whole.count - count, count});
    left -= count;
  }
  if (leaving.empty()) return 0;
  wait_();
  std::vector<bool> is_leaving(static_cast<std::size_t>(free_.units()), false);
  for (const Run& run : leaving) {
    free_.take(run);
    std::fill_n(is_leaving.begin() + run.first, run.count, true);
  }
  forget_stitches([&](const Stitch& stitch) {
    return std::any_of(stitch.runs->begin(), stitch.runs->end(), [&](const Run& run) {
      const auto first = is_leaving.begin() + run.first;
      return std::find(first, first + run.count, true) != first + run.count;
    });
  });
  for (const Run& run : leaving) release(run);
  while (!is_present_.empty() && !is_present_.back()) {
    is_present_.pop_back();
    home_pages_.pop_back();
  }
  free_.resize(static_cast<std::int64_t>(home_pages_.size()) * units_per_page_);
  return pages - left / units_per_page_;
}

void PageArena::release(const Run& run) {
  const std::int64_t first = run.first / units_per_page_;
  const std::int64_t count = run.count / units_per_page_;
  mapper_.unmap(address_of(run.first), count);
  for (std::int64_t page = first; page < first + count; ++page) {
    mapper_.release_page(home_pages_[static_cast<std::size_t>(page)]);
  }
  std::fill_n(is_present_.begin() + first, count, false);
  present_pages_ -= count;
}

std::int64_t PageArena::missing_bytes(std::int64_t bytes) const {
  const std::lock_guard lock(mutex_);
  if (bytes < page_bytes_) return rounded(bytes);
  const std::int64_t pages = bytes / page_bytes_ + 1 - free_.free_pages();
  return std::max<std::int64_t>(pages, 1) * page_bytes_;
}

std::int64_t PageArena::pages() const {
  const std::lock_guard lock(mutex_);
  return present_pages_;
}

std::int64_t PageArena::free_pages() const {
  const std::lock_guard lock(mutex_);
  return free_.free_pages();
}

std::int64_t PageArena::free_bytes() const {
  const std::lock_guard lock(mutex_);
  return free_.free_units() * unit_bytes_;
}

std::int64_t PageArena::stitches() const {
  const std::lock_guard lock(mutex_);
  return stitch_count_;
}

}  // namespace lowtide::engine
