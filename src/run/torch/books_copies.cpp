// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
//
// The part of the books that copies values to the host and back.
#include <unordered_set>
#include <utility>

#include "lowtide/errors.h"
#include "run/torch/books.h"

namespace lowtide::run {

bool Books::copy_to_host(Value& value) {
  if (value.copy.is_empty()) {
    void* host = moved_.allocate(value.copy, value.bytes);
    if (host == nullptr) return false;
    try {
      device_.start_copy_out(host, value.place->data, value.bytes, last_use_of(value));
    } catch (const DeviceError&) {
      // The value stays where it is.
      moved_.free(value.copy);
      return false;
    }
    device_.ledger().set_copied(value.place->data, true);
    counters.bytes_to_host += value.bytes;
  }
  moved_.set_spare(value.copy, false);
  moved_.write_behind();
  return true;
}

bool Books::start_move(const ValueP& value, Lock&) {
  if (!can_move(*value) || !can_evict(*value) || !owns_block(*value)) return false;
  if (!copy_to_host(*value)) return false;
  set_leaving(*value, true);
  leaving_.push_back(value);
  tell(ValueEvent::kLeaves, *value);
  return true;
}

void Books::set_leaving(Value& value, bool is_leaving) {
  if (value.is_leaving == is_leaving) return;
  value.is_leaving = is_leaving;
  leaving_bytes_ += is_leaving ? value.bytes : -value.bytes;
}

void Books::set_arriving(Value& value, bool is_arriving) {
  if (value.is_arriving == is_arriving) return;
  value.is_arriving = is_arriving;
  arriving_bytes_ += is_arriving ? value.bytes : -value.bytes;
}

bool Books::keep_leaving(Value& value) {
  const bool was_leaving = value.is_leaving;
  set_leaving(value, false);
  return was_leaving;
}

void Books::tidy_leaving(Lock&) {
  std::unordered_set<const Value*> seen;
  std::erase_if(leaving_, [&seen](const std::weak_ptr<Value>& weak) {
    const ValueP value = weak.lock();
    return !value || !value->is_leaving || !seen.insert(value.get()).second;
  });
}

void Books::start_fetch(const ValueP& value, c10::Storage bytes, Lock& lock) {
  device_.start_copy_in(bytes.mutable_data(), moved_.bytes(value->copy), value->bytes);
  device_.ledger().set_copied(bytes.mutable_data(), true);
  counters.bytes_from_host += value->bytes;
  install(value, std::move(bytes), lock);
  set_arriving(*value, true);
  tell(ValueEvent::kFetched, *value);
}

bool Books::give_up_copy(Value& value, Lock&) {
  if (!value.producer) return false;
  moved_.free(value.copy);
  value.residency = Residency::kDropped;
  on_dropped(value);
  ++counters.copies_lost;
  return true;
}

void Books::arrive(Value& value) {
  if (!value.is_arriving) return;
  set_arriving(value, false);
  const std::int32_t fetch = std::exchange(value.fetched_by, -1);
  const bool is_timed = stalls != nullptr && fetch >= 0;
  const int timing = is_timed ? stalls->start() : -1;
  // Its storage may have died meanwhile; replays use the bytes all the same.
  finish_copy(value.place != nullptr ? value.place->data : value.temporary.mutable_data(),
              device_.current_stream());
  if (is_timed) stalls->stop(timing, fetch);
}

void Books::finish_copy(void* data, void* stream) {
  device_.finish_copy(data, stream);
  device_.ledger().set_copied(data, false);
}

bool Books::move_out(Value& value, Lock& lock) {
  if (!copy_to_host(value)) return false;
  tell(ValueEvent::kGoesToHost, value);
  take_bytes_away(value, lock);
  ++counters.moves;
  if (value.place != nullptr) value.residency = Residency::kMoved;
  return true;
}

}  // namespace lowtide::run
