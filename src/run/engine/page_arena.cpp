// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "run/engine/page_arena.h"

#include <algorithm>
#include <iterator>

#include "base/check.h"

namespace lowtide::engine {
namespace {

// Smaller blocks are taken from the other end of a run, so that they do not lie between large ones.
constexpr std::int64_t kSmallPages = 8;
// How many addresses a page has on average at most, besides its home.
constexpr std::int64_t kMostStitchesPerPage = 32;

}  // namespace

PageArena::PageArena(PageMapper& mapper, std::int64_t most_pages, WaitForDevice wait)
    : mapper_(mapper),
      page_bytes_(mapper.page_bytes()),
      most_pages_(most_pages),
      wait_(std::move(wait)) {}

PageArena::~PageArena() {
  if (present_ > 0) shrink(present_);
  if (home_ != 0) mapper_.unreserve(home_, most_pages_);
}

PageArena::Address PageArena::home_address(std::int64_t page) const {
  return home_ + static_cast<Address>(page * page_bytes_);
}

void* PageArena::allocate(std::int64_t pages, std::int64_t new_pages) {
  LT_CHECK(pages > 0, "a block has a page at least");
  const std::lock_guard lock(mutex_);
  if (void* block = take_run(pages)) return block;
  // New pages join what is free at the end, so fewer are needed than asked for.
  const std::int64_t missing = pages - free_at_end();
  if (missing <= new_pages && grow(missing)) {
    if (void* block = take_run(pages)) return block;
  }
  const std::int64_t short_of = pages - free_count_;
  if (short_of > 0 && (short_of > new_pages || !grow(short_of))) return nullptr;
  return free_count_ >= pages ? take_stitch(pages) : nullptr;
}

// From the shortest free run that has so many.
void* PageArena::take_run(std::int64_t pages) {
  const auto found = free_by_length_.lower_bound({pages, 0});
  if (found == free_by_length_.end()) return nullptr;
  const auto [length, first] = *found;
  const std::int64_t start = pages < kSmallPages ? first + length - pages : first;
  const Run run = {start, pages};
  take(run);
  return hand_out(home_address(start), {run});
}

// The pages are chosen by what is free alone, whatever stitches there are: so a step that begins
// and goes on like the last one finds all of its stitches.
void* PageArena::take_stitch(std::int64_t pages) {
  Runs runs = smallest_free_runs(pages);
  std::vector<std::unique_ptr<Stitch>>& known = stitches_[pages];
  auto found = std::find_if(known.begin(), known.end(),
                            [&](const auto& stitch) { return stitch->runs == runs; });
  if (found == known.end()) {
    found = std::find_if(known.begin(), known.end(),
                         [&](const auto& stitch) { return is_free(stitch->runs); });
  }
  if (found == known.end()) return make_stitch(pages, std::move(runs));
  Stitch& stitch = **found;
  for (const Run& run : stitch.runs) take(run);
  stitch.last_use = ++clock_;
  return hand_out(stitch.address, stitch.runs);
}

void* PageArena::make_stitch(std::int64_t pages, Runs runs) {
  forget_old_stitches();
  std::vector<PageMapper::Page> mapped;
  for (const Run& run : runs) {
    const auto first = home_pages_.begin() + run.first;
    mapped.insert(mapped.end(), first, first + run.count);
  }
  const Address address = mapper_.reserve(pages);
  try {
    mapper_.map(address, mapped);
  } catch (...) {
    mapper_.unreserve(address, pages);
    throw;
  }
  stitches_[pages].push_back(
      std::make_unique<Stitch>(Stitch{address, pages, runs, /*last_use=*/++clock_}));
  ++stitch_count_;
  stitched_pages_ += pages;
  for (const Run& run : runs) take(run);
  return hand_out(address, std::move(runs));
}

// The shortest ones, so that long ones remain for those who need no stitch.
PageArena::Runs PageArena::smallest_free_runs(std::int64_t pages) const {
  Runs runs;
  for (const auto& [length, first] : free_by_length_) {
    const std::int64_t count = std::min(length, pages);
    runs.push_back({first, count});
    pages -= count;
    if (pages == 0) break;
  }
  return runs;
}

void* PageArena::hand_out(Address address, Runs runs) {
  void* block = reinterpret_cast<void*>(address);
  blocks_.emplace(block, std::move(runs));
  return block;
}

std::int64_t PageArena::free(void* block) {
  const std::lock_guard lock(mutex_);
  const auto found = blocks_.find(block);
  if (found == blocks_.end()) return 0;
  std::int64_t pages = 0;
  for (const Run& run : found->second) {
    add_free(run);
    pages += run.count;
  }
  blocks_.erase(found);
  return pages;
}

bool PageArena::owns(void* block) const {
  const std::lock_guard lock(mutex_);
  return blocks_.contains(block);
}

bool PageArena::is_free(const Runs& runs) const {
  return std::all_of(runs.begin(), runs.end(), [this](const Run& run) {
    const auto first = states_.begin() + run.first;
    return std::all_of(first, first + run.count, [](State state) { return state == State::kFree; });
  });
}

void PageArena::set_state(const Run& run, State state) {
  const auto first = states_.begin() + run.first;
  std::fill(first, first + run.count, state);
}

void PageArena::erase_free(Run run) {
  free_.erase(run.first);
  free_by_length_.erase({run.count, run.first});
}

void PageArena::add_free(Run run) {
  set_state(run, State::kFree);
  free_count_ += run.count;
  const auto after = free_.lower_bound(run.first);
  if (after != free_.end() && after->first == run.first + run.count) {
    const Run next = {after->first, after->second};
    run.count += next.count;
    erase_free(next);
  }
  const auto place = free_.lower_bound(run.first);
  if (place != free_.begin()) {
    const Run before = {std::prev(place)->first, std::prev(place)->second};
    if (before.first + before.count == run.first) {
      erase_free(before);
      run = {before.first, before.count + run.count};
    }
  }
  free_.emplace(run.first, run.count);
  free_by_length_.emplace(run.count, run.first);
}

// Requires: all of it is free.
void PageArena::take(const Run& run) {
  const auto found = std::prev(free_.upper_bound(run.first));
  const Run whole = {found->first, found->second};
  erase_free(whole);
  free_count_ -= whole.count;
  const Run before = {whole.first, run.first - whole.first};
  const Run after = {run.first + run.count, whole.first + whole.count - run.first - run.count};
  if (before.count > 0) add_free(before);
  if (after.count > 0) add_free(after);
  set_state(run, State::kUsed);
}

std::int64_t PageArena::free_at_end() const {
  if (free_.empty()) return 0;
  const auto& [first, count] = *free_.rbegin();
  return first + count == static_cast<std::int64_t>(states_.size()) ? count : 0;
}

// At the end of the row, or, when that is reached, wherever pages were given back.
bool PageArena::grow(std::int64_t pages) {
  if (home_ == 0) home_ = mapper_.reserve(most_pages_);
  const auto end = static_cast<std::int64_t>(states_.size());
  const std::int64_t at_end = std::min(pages, most_pages_ - end);
  std::int64_t made = make_pages(end, at_end);
  if (made < at_end) return false;
  for (std::int64_t place = 0; place < end && made < pages; ++place) {
    if (states_[static_cast<std::size_t>(place)] != State::kAbsent) continue;
    if (make_pages(place, 1) == 0) return false;
    ++made;
  }
  return made == pages;
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
    mapper_.map(home_address(first), made);
  } catch (...) {
    for (const PageMapper::Page page : made) mapper_.release_page(page);
    throw;
  }
  const auto end = static_cast<std::size_t>(first + number);
  if (states_.size() < end) {
    states_.resize(end, State::kAbsent);
    home_pages_.resize(end, 0);
  }
  std::copy(made.begin(), made.end(), home_pages_.begin() + first);
  present_ += number;
  add_free({first, number});
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
}

// Which steps no longer need is not known; those unused for longest go, half of them at once, since
// the device is waited for.
void PageArena::forget_old_stitches() {
  if (stitched_pages_ <= kMostStitchesPerPage * present_) return;
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
  const Runs leaving = choose_leaving(pages);
  if (leaving.empty()) return 0;
  wait_();
  std::vector<bool> is_leaving(states_.size(), false);
  std::int64_t given = 0;
  for (const Run& run : leaving) {
    take(run);
    std::fill_n(is_leaving.begin() + run.first, run.count, true);
    given += run.count;
  }
  forget_stitches([&](const Stitch& stitch) {
    return std::any_of(stitch.runs.begin(), stitch.runs.end(), [&](const Run& run) {
      const auto first = is_leaving.begin() + run.first;
      return std::find(first, first + run.count, true) != first + run.count;
    });
  });
  for (const Run& run : leaving) release(run);
  while (!states_.empty() && states_.back() == State::kAbsent) {
    states_.pop_back();
    home_pages_.pop_back();
  }
  return given;
}

// Those farthest from the beginning, where large blocks lie.
PageArena::Runs PageArena::choose_leaving(std::int64_t pages) const {
  Runs leaving;
  for (auto run = free_.rbegin(); run != free_.rend() && pages > 0; ++run) {
    const std::int64_t count = std::min(pages, run->second);
    leaving.push_back({run->first + run->second - count, count});
    pages -= count;
  }
  return leaving;
}

void PageArena::release(const Run& run) {
  mapper_.unmap(home_address(run.first), run.count);
  for (std::int64_t page = run.first; page < run.first + run.count; ++page) {
    mapper_.release_page(home_pages_[static_cast<std::size_t>(page)]);
  }
  set_state(run, State::kAbsent);
  present_ -= run.count;
}

std::int64_t PageArena::pages() const {
  const std::lock_guard lock(mutex_);
  return present_;
}

std::int64_t PageArena::free_pages() const {
  const std::lock_guard lock(mutex_);
  return free_count_;
}

std::int64_t PageArena::stitches() const {
  const std::lock_guard lock(mutex_);
  return stitch_count_;
}

}  // namespace lowtide::engine
