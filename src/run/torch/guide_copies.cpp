// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
//
// The part of the guide that moves values out and fetches them.
#include <utility>

#include "lowtide/errors.h"
#include "run/torch/guide.h"
#include "run/torch/replay.h"

namespace lowtide::run {

bool Guide::has_room_on_the_way(std::int64_t under_way, std::int64_t bytes) const {
  return under_way == 0 || under_way + bytes <= books_.rules.most_bytes_in_flight;
}

bool Guide::may_fetch_now(Value& value, Books::Lock& lock) {
  return books_.moved(lock).is_at_hand(value.copy) &&
         has_room_on_the_way(books_.arriving_bytes(), value.bytes);
}

void Guide::fetch(const StepP& step, std::int32_t action) {
  const ValueId id = std::get<Fetch>(step->plan().actions[static_cast<std::size_t>(action)]).value;
  Begun begun{.value = nullptr, .action = action};
  {
    Books::Lock lock(books_);
    ValueP value = step_ == step ? current(id) : nullptr;
    // Its bytes never went, and now they stay.
    if (value && (cancel_due_move(id) || books_.keep_leaving(*value))) {
      value.reset();
      return;
    }
    if (!value || value->residency != Residency::kMoved) {
      ++counters_.skipped;
      value.reset();
      return;
    }
    engine::HostCache& moved = books_.moved(lock);
    if (!moved.is_at_hand(value->copy)) {
      moved.start_reading(value->copy);
      if (moved.reading(value->copy)) ++counters_.prefetches;
      reading_.push_back({value, action});
      value.reset();
      return;
    }
    if (!due_fetches_.empty() || !may_fetch_now(*value, lock)) {
      due_fetches_.push_back({value, action});
      value.reset();
      return;
    }
    ++value->pins;
    begun.value = std::move(value);
  }
  if (fetch_from_host(std::move(begun))) ++counters_.prefetches;
}

bool Guide::fetch_from_host(Begun fetch) {
  const auto finish = [&](c10::Storage bytes) {
    Books::Lock lock(books_);
    ValueP value = std::move(fetch.value);
    --value->pins;
    // What was read may have had to make room for something else.
    const bool is_fetched = bytes && value->residency == Residency::kMoved &&
                            books_.moved(lock).is_at_hand(value->copy);
    if (is_fetched) {
      books_.start_fetch(value, std::move(bytes), lock);
      value->fetched_by = fetch.action;
    } else {
      ++counters_.skipped;
    }
    value.reset();
    return is_fetched;
  };
  try {
    return finish(new_bytes(books_, fetch.value->bytes));
  } catch (const OutOfMemory&) {
    // It comes when an op asks for it.
    return finish(c10::Storage());
  }
}

void Guide::fetch_what_is_due() {
  for (;;) {
    Begun begun;
    bool was_counted = false;
    {
      Books::Lock lock(books_);
      begun = next_due(lock);
      if (!begun.value) {
        begun = next_that_was_read(lock);
        was_counted = true;
      }
      if (!begun.value) return;
      ++begun.value->pins;
    }
    if (fetch_from_host(std::move(begun)) && !was_counted) ++counters_.prefetches;
  }
}

// Null while there is too much on the way.
Guide::Begun Guide::next_due(Books::Lock& lock) {
  while (!due_fetches_.empty()) {
    const DueFetch first = due_fetches_.front();
    ValueP value = first.value.lock();
    const bool is_wanted = value && value->residency == Residency::kMoved;
    const bool is_at_hand = is_wanted && books_.moved(lock).is_at_hand(value->copy);
    if (is_at_hand && !may_fetch_now(*value, lock)) return {};
    due_fetches_.pop_front();
    if (is_at_hand) return {.value = std::move(value), .action = first.action};
    // It had to make room in host memory meanwhile.
    if (is_wanted) reading_.push_back(first);
  }
  return {};
}

// In the order of the plan: null while the first is not there.
Guide::Begun Guide::next_that_was_read(Books::Lock& lock) {
  engine::HostCache& moved = books_.moved(lock);
  while (!reading_.empty()) {
    const DueFetch first = reading_.front();
    ValueP value = first.value.lock();
    if (value && value->residency == Residency::kMoved) {
      // There was no memory to read it to; perhaps there is now.
      if (!moved.is_at_hand(value->copy)) moved.start_reading(value->copy);
      if (!may_fetch_now(*value, lock)) return {};
      reading_.pop_front();
      return {.value = std::move(value), .action = first.action};
    }
    reading_.pop_front();
  }
  return {};
}

// In the order of the plan, as far as there is room on the way.
void Guide::move_what_is_due(Books::Lock& lock) {
  while (!due_moves_.empty()) {
    const auto index = static_cast<std::size_t>(due_moves_.front());
    const Move& due = std::get<Move>(step_->plan().actions[index]);
    const ValueP value = current(due.value);
    const std::int64_t bytes = value ? value->bytes : 0;
    if (!has_room_on_the_way(books_.leaving_bytes(), bytes)) return;
    due_moves_.pop_front();
    move(due, lock);
  }
}

bool Guide::cancel_due_move(ValueId id) {
  return std::erase_if(due_moves_, [&](std::int32_t index) {
           const Action& action = step_->plan().actions[static_cast<std::size_t>(index)];
           return std::get<Move>(action).value == id;
         }) > 0;
}

void Guide::move(const Move& move, Books::Lock& lock) {
  const ValueP value = current(move.value);
  if (!value || !value->is_resident() || !books_.start_move(value, lock)) {
    ++counters_.skipped;
    return;
  }
  // The tiers behind host memory are the file.
  if (move.tier.slot() > 0) books_.moved(lock).send_to_file(value->copy);
}

}  // namespace lowtide::run
