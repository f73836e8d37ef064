// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "run/engine/host_cache.h"

#include <algorithm>
#include <chrono>
#include <iterator>
#include <utility>

#include "base/bytes.h"
#include "base/check.h"

namespace lowtide::engine {

HostCache::~HostCache() {
  for (const Orphan& orphan : orphans_) orphan.spilled->wait();
  free_orphans();
}

void HostCache::set_file(std::shared_ptr<tier::SpillFile> file, std::int64_t host_cap_bytes) {
  // A file ends with the last value in it.
  for (const Orphan& orphan : orphans_) orphan.spilled->wait();
  free_orphans();
  if (file != file_) failures_ = 0;
  file_ = std::move(file);
  cap_bytes_ = host_cap_bytes;
}

HostCache::ByUse* HostCache::list_of(const HostCopy& copy) {
  if (copy.state_ != State::kMemory && copy.state_ != State::kBoth) return nullptr;
  if (copy.is_spare_) return &spares_;
  return copy.state_ == State::kMemory ? &unwritten_ : &written_;
}

void HostCache::enter(HostCopy& copy) {
  if (ByUse* list = list_of(copy)) {
    list->copies.emplace(copy.used_, &copy);
    list->bytes += copy.bytes_;
    if (list == &unwritten_ && copy.goes_to_file_) ++unwritten_for_file_;
  } else if (copy.state_ == State::kFile) {
    in_file_.emplace(copy.used_, &copy);
    sizes_in_file_.insert(copy.bytes_);
  } else if (copy.state_ != State::kNowhere) {
    copy.busy_ = busy_.insert(busy_.end(), &copy);
    busy_bytes_ += copy.bytes_;
  }
}

void HostCache::remove(HostCopy& copy) {
  if (ByUse* list = list_of(copy)) {
    list->copies.erase(copy.used_);
    list->bytes -= copy.bytes_;
    if (list == &unwritten_ && copy.goes_to_file_) --unwritten_for_file_;
  } else if (copy.state_ == State::kFile) {
    in_file_.erase(copy.used_);
    sizes_in_file_.erase(sizes_in_file_.find(copy.bytes_));
  } else if (copy.state_ != State::kNowhere) {
    busy_.erase(copy.busy_);
    busy_bytes_ -= copy.bytes_;
  }
}

void HostCache::change(HostCopy& copy, State state) {
  remove(copy);
  copy.state_ = state;
  enter(copy);
}

void HostCache::use(HostCopy& copy) {
  remove(copy);
  copy.used_ = ++uses_;
  enter(copy);
}

void* HostCache::allocate(HostCopy& copy, std::int64_t bytes) {
  void* host = allocate_memory(bytes);
  if (host == nullptr) return nullptr;
  adopt(copy, host, bytes);
  if (has_room_to_read()) return host;
  free(copy);
  return nullptr;
}

// If memory were full of what cannot be written, nothing could be read.
bool HostCache::has_room_to_read() const {
  if (sizes_in_file_.empty()) return true;
  const std::int64_t needed = *sizes_in_file_.rbegin();
  std::int64_t room = cap_bytes_ - memory_.host_held_bytes();
  room += spares_.bytes + written_.bytes + busy_bytes_;
  if (can_write()) room += std::min(unwritten_.bytes, file_->free_bytes());
  return room >= needed;
}

void HostCache::adopt(HostCopy& copy, void* host, std::int64_t bytes) {
  LT_CHECK(copy.is_empty(), "a copy of ", copy.bytes_, " bytes is there already");
  copy.host_ = host;
  copy.bytes_ = bytes;
  copy.is_spare_ = false;
  copy.goes_to_file_ = false;
  copy.used_ = ++uses_;
  change(copy, State::kMemory);
}

void HostCache::free(HostCopy& copy) {
  if (copy.is_empty()) return;
  const bool is_busy = copy.spilled_ != nullptr && copy.spilled_->is_busy();
  if (is_busy) {
    copy.spilled_->cancel();
    orphans_.push_back({copy.host_, std::move(copy.file_), std::move(copy.spilled_)});
  } else if (copy.host_ != nullptr) {
    memory_.free_host(copy.host_);
  }
  set_ahead(copy, false);
  copy.used_before_ = 0;
  remove(copy);
  // In this order: what lies in a file goes before the file.
  copy.spilled_.reset();
  copy.file_.reset();
  copy.host_ = nullptr;
  copy.failure_.clear();
  copy.state_ = State::kNowhere;
}

void HostCache::set_spare(HostCopy& copy, bool is_spare) {
  if (copy.is_empty() || copy.is_spare_ == is_spare) return;
  remove(copy);
  copy.is_spare_ = is_spare;
  // What comes to be needed is as good as new.
  copy.used_ = ++uses_;
  enter(copy);
}

void HostCache::send_to_file(HostCopy& copy) {
  if (copy.is_empty()) return;
  remove(copy);
  copy.goes_to_file_ = true;
  enter(copy);
  write_behind();
}

void HostCache::write_behind() {
  if (!busy_.empty() || !orphans_.empty()) settle_all();
  if (!can_write()) return;
  for (auto next = unwritten_.copies.begin(); next != unwritten_.copies.end();) {
    const bool is_full = unwritten_.bytes > cap_bytes_ / 2;
    if (!is_full && unwritten_for_file_ == 0) return;
    HostCopy& copy = *(next++)->second;
    if (!is_full && !copy.goes_to_file_) continue;
    // What is copied later is not there either.
    if (!memory_.is_host_written(copy.host_) || !start_writing(copy)) return;
  }
}

bool HostCache::start_writing(HostCopy& copy) {
  copy.spilled_ = file_->store(copy.host_, copy.bytes_);
  if (!copy.spilled_) return false;
  copy.file_ = file_;
  change(copy, State::kWriting);
  return true;
}

void HostCache::settle(HostCopy& copy) {
  const bool is_over = (copy.state_ == State::kWriting || copy.state_ == State::kReading) &&
                       !copy.spilled_->is_busy();
  if (!is_over) return;
  copy.failure_ = copy.spilled_->failure();
  const bool is_fine = copy.failure_.empty();
  if (copy.state_ == State::kReading && !is_fine) {
    free_memory(copy);
    change(copy, State::kFile);
  } else if (copy.state_ == State::kWriting && !is_fine) {
    // It is in memory still; only there is no more of that than before.
    copy.spilled_.reset();
    copy.file_.reset();
    copy.goes_to_file_ = false;
    ++failures_;
    change(copy, State::kMemory);
  } else {
    if (copy.state_ == State::kWriting) failures_ = 0;
    change(copy, State::kBoth);
  }
}

void HostCache::settle_all() {
  free_orphans();
  for (auto next = busy_.begin(); next != busy_.end();) settle(**next++);
}

bool HostCache::free_orphans() {
  const std::size_t before = orphans_.size();
  orphans_.remove_if([this](const Orphan& orphan) {
    if (orphan.spilled->is_busy()) return false;
    memory_.free_host(orphan.host);
    return true;
  });
  return orphans_.size() < before;
}

void HostCache::free_memory(HostCopy& copy) {
  set_ahead(copy, false);
  memory_.free_host(copy.host_);
  copy.host_ = nullptr;
}

bool HostCache::drop_one() {
  if (!spares_.copies.empty()) {
    HostCopy& copy = *spares_.copies.begin()->second;
    if (copy.state_ == State::kMemory) {
      free(copy);
    } else {
      free_memory(copy);
      change(copy, State::kFile);
    }
    return true;
  }
  if (written_.copies.empty()) return false;
  HostCopy& copy = *written_.copies.begin()->second;
  free_memory(copy);
  change(copy, State::kFile);
  return true;
}

void* HostCache::allocate_without_waiting(std::int64_t bytes) {
  void* host = memory_.allocate_host(bytes);
  if (host != nullptr) return host;
  settle_all();
  do {
    host = memory_.allocate_host(bytes);
  } while (host == nullptr && drop_one());
  return host;
}

void* HostCache::allocate_memory(std::int64_t bytes) {
  for (;;) {
    void* host = allocate_without_waiting(bytes);
    if (host != nullptr || !wait_for_room(bytes)) return host;
  }
}

bool HostCache::wait_for_room(std::int64_t bytes) {
  while (busy_bytes_ < bytes && can_write() && !unwritten_.copies.empty()) {
    HostCopy& copy = *unwritten_.copies.begin()->second;
    memory_.wait_for_host(copy.host_);
    if (!start_writing(copy)) break;
  }
  if (!busy_.empty()) {
    HostCopy& first = *busy_.front();
    wait_for(*first.spilled_);
    settle(first);
    return true;
  }
  if (orphans_.empty()) return false;
  wait_for(*orphans_.front().spilled);
  return true;
}

void HostCache::wait_for(const tier::Spilled& spilled) {
  const auto start = std::chrono::steady_clock::now();
  spilled.wait();
  waited_seconds_ +=
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

void HostCache::start_reading(HostCopy& copy) {
  settle(copy);
  if (copy.state_ != State::kFile || !copy.failure_.empty()) return;
  if (void* host = allocate_without_waiting(copy.bytes_)) start_reading_to(copy, host);
}

void HostCache::start_reading_to(HostCopy& copy, void* host) {
  memory_.wait_for_freed_host();
  remove(copy);
  copy.host_ = host;
  copy.used_before_ = copy.used_;
  copy.used_ = ++uses_;
  copy.file_->load(copy.spilled_, host);
  copy.state_ = State::kReading;
  enter(copy);
}

void HostCache::want(HostCopy& copy) {
  start_reading(copy);
  set_ahead(copy, false);
  if (const std::uint64_t place = std::exchange(copy.used_before_, 0)) read_ahead_of(place);
}

// On in the direction in which the last ones came.
void HostCache::read_ahead_of(std::uint64_t place) {
  const bool is_forward = place > std::exchange(last_wanted_, place);
  while (ahead_bytes_ < cap_bytes_ / 4) {
    const auto after = in_file_.upper_bound(place);
    if (after == (is_forward ? in_file_.end() : in_file_.begin())) return;
    HostCopy& next = *(is_forward ? after : std::prev(after))->second;
    place = next.used_;
    start_reading(next);
    if (next.state_ != State::kReading) return;
    set_ahead(next, true);
  }
}

void HostCache::set_ahead(HostCopy& copy, bool is_ahead) {
  if (copy.is_ahead_ == is_ahead) return;
  copy.is_ahead_ = is_ahead;
  ahead_bytes_ += is_ahead ? copy.bytes_ : -copy.bytes_;
}

bool HostCache::is_at_hand(HostCopy& copy) {
  settle(copy);
  return copy.state_ == State::kMemory || copy.state_ == State::kWriting ||
         copy.state_ == State::kBoth;
}

tier::SpilledP HostCache::reading(const HostCopy& copy) const {
  return copy.state_ == State::kReading ? copy.spilled_ : nullptr;
}

void* HostCache::bytes(HostCopy& copy) {
  LT_CHECK(!copy.is_empty(), "there is no copy");
  while (!is_at_hand(copy)) {
    if (copy.state_ == State::kReading) {
      wait_for(*copy.spilled_);
      continue;
    }
    if (!copy.failure_.empty()) {
      // The next call tries again.
      throw IoError(base::concat("a value that was moved to the spill file cannot be read: ",
                                 std::exchange(copy.failure_, {}), ", of ", copy.bytes_));
    }
    void* host = allocate_memory(copy.bytes_);
    if (host == nullptr) {
      throw OutOfMemory(base::concat(
          "out of host memory. A value in the spill file needs ", base::format_bytes(copy.bytes_),
          " of it to be read, and what is there cannot be written to the file: allow "
          "more host memory (host_cap), or a larger file (spill_cap)"));
    }
    start_reading_to(copy, host);
  }
  use(copy);
  return copy.host_;
}

double HostCache::read_seconds(const HostCopy& copy) const {
  if (!copy.is_in_file()) return 0;
  return static_cast<double>(copy.bytes_) / copy.file_->read_bytes_per_second();
}

// As long as there is room in memory it costs nothing.
double HostCache::spill_seconds(std::int64_t bytes) const {
  if (file_ == nullptr || memory_.host_held_bytes() + bytes <= cap_bytes_ / 4 * 3) return 0;
  return static_cast<double>(bytes) / file_->write_bytes_per_second() +
         static_cast<double>(bytes) / file_->read_bytes_per_second();
}

}  // namespace lowtide::engine
