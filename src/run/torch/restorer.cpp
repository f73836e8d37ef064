// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "run/torch/restorer.h"

#include <algorithm>
#include <chrono>

#include "base/check.h"
#include "run/torch/dependents.h"
#include "run/torch/random_state.h"
#include "run/torch/replay.h"

namespace lowtide::run {

// A value to be brought back, and how far its op's inputs are.
struct Restorer::Frame {
  ValueP value;
  RecordP record;
  std::size_t next_ref = 0;
  // Inputs that stay until the op was carried out; those with bytes are kept alive as well.
  std::vector<ValueP> pinned;
  std::vector<c10::Storage> kept;
};

// Alone in bringing values back. A replay may be of a random op.
class Restorer::Turn {
 public:
  explicit Turn(Restorer& restorer) : restoring_(restorer.turn_) {}

 private:
  TurnToDraw drawing_ = turn_to_draw();
  std::lock_guard<std::recursive_mutex> restoring_;
};

void Restorer::restore(const ValueP& value) {
  {
    Books::Lock lock(books_);
    books_.arrive(*value);
    if (value->is_resident()) return;
  }
  const Turn turn(*this);
  {
    Books::Lock lock(books_);
    books_.tell(ValueEvent::kWanted, *value);
  }
  try {
    bring_back(value);
  } catch (const OutOfMemory&) {
    if (!give_up_records()) throw;
    bring_back(value);
  }
}

void Restorer::bring_back(const ValueP& value) {
  std::vector<Frame> frames;
  frames.push_back({value, nullptr, 0, {}, {}});
  {
    Books::Lock lock(books_);
    books_.begin_restoring(lock);
  }
  try {
    while (advance(frames)) {
    }
  } catch (...) {
    release(frames);
    throw;
  }
  release(frames);
}

bool Restorer::give_up_records() {
  Books::Lock lock(books_);
  return books_.give_up_records(lock);
}

// One step on the way: one value further down, one fetch, or one replay. False when all is done.
bool Restorer::advance(std::vector<Frame>& frames) {
  ValueP to_fetch;
  {
    Books::Lock lock(books_);
    Frame* frame = &frames.back();
    if (frame->value->is_resident()) {
      let_go(*frame);
      frames.pop_back();
      return !frames.empty();
    }
    if (frame->value->residency == Residency::kMoved) {
      to_fetch = frame->value;
    } else {
      if (!frame->record) frame->record = frame->value->producer;
      LT_CHECK(frame->record, "a value of ", frame->value->bytes, " bytes cannot be made again");
      const auto& refs = frame->record->refs;
      for (; frame->next_ref < refs.size(); ++frame->next_ref) {
        const Ref& ref = refs[frame->next_ref];
        if (!ref.value || ref.is_scratch) continue;
        if (frame->pinned.empty() || frame->pinned.back() != ref.value) {
          ++ref.value->pins;
          frame->pinned.push_back(ref.value);
        }
        books_.arrive(*ref.value);
        if (ref.value->is_resident()) {
          if (c10::Storage storage = books_.keep_alive(*ref.value, lock)) {
            frame->kept.push_back(std::move(storage));
            continue;
          }
        }
        frames.push_back({ref.value, nullptr, 0, {}, {}});
        return true;
      }
    }
  }
  if (to_fetch) {
    fetch(to_fetch);
    Books::Lock lock(books_);
    to_fetch.reset();
  } else {
    replay(books_, frames.back().record, frames.back().value);
  }
  return true;
}

void Restorer::release(std::vector<Frame>& frames) {
  Books::Lock lock(books_);
  for (Frame& frame : frames) let_go(frame);
  frames.clear();
  books_.end_restoring(lock);
}

void Restorer::let_go(Frame& frame) {
  for (const ValueP& input : frame.pinned) --input->pins;
  for (c10::Storage& storage : frame.kept) books_.discard(std::move(storage));
}

// What lies in a file is waited for without the lock, as far as it can be known then.
void Restorer::wait_for_file(const ValueP& value) {
  tier::SpilledP reading;
  {
    Books::Lock lock(books_);
    if (value->residency != Residency::kMoved) return;
    engine::HostCache& moved = books_.moved(lock);
    moved.want(value->copy);
    reading = moved.reading(value->copy);
  }
  if (!reading) return;
  const auto start = std::chrono::steady_clock::now();
  reading->wait();
  const std::chrono::duration<double> waited = std::chrono::steady_clock::now() - start;
  Books::Lock lock(books_);
  books_.moved(lock).add_waited_seconds(waited.count());
  reading.reset();
}

void Restorer::fetch(const ValueP& value) {
  wait_for_file(value);
  c10::Storage bytes = new_bytes(books_, value->bytes);
  Books::Lock lock(books_);
  // Its storage may have died meanwhile, and the copy with it.
  if (value->residency != Residency::kMoved) return;
  try {
    books_.start_fetch(value, std::move(bytes), lock);
  } catch (const IoError&) {
    // It may be had in another way.
    if (!books_.give_up_copy(*value, lock)) throw;
    return;
  } catch (const OutOfMemory&) {
    // There is no host memory to read the file to.
    if (!books_.give_up_copy(*value, lock)) throw;
    return;
  }
  books_.arrive(*value);
  books_.advance();
  books_.use(*value);
}

// It need not be computed again: its bytes may stay where they are.
bool Restorer::has_copy(const ValueP& value) {
  Books::Lock lock(books_);
  return value->residency == Residency::kMoved;
}

void Restorer::settle(const std::vector<ValueP>& values) {
  Dependents search(values);
  {
    Books::Lock lock(books_);
    for (const ValueP& value : values) {
      if (value->is_source() && !value->readers.empty()) search.look_from(value);
    }
    for (const ValueP& value : search.alive) ++value->pins;
  }
  std::size_t done = 0;
  const auto finish = [&] {
    Books::Lock lock(books_);
    for (std::size_t i = done; i < search.alive.size(); ++i) --search.alive[i]->pins;
    search.clear();
  };
  try {
    for (const ValueP& value : search.alive) {
      if (!has_copy(value)) restore(value);
      Books::Lock lock(books_);
      books_.make_source(*value, lock);
      --value->pins;
      ++done;
    }
  } catch (...) {
    finish();
    throw;
  }
  {
    Books::Lock lock(books_);
    for (const ValueP& value : search.lost) books_.make_source(*value, lock);
    for (const ValueP& value : values) {
      if (value->is_source()) value->readers.clear();
    }
  }
  finish();
}

namespace {

bool is_dropped_survivor(const Value& value) {
  return value.residency == Residency::kDropped && !value.is_ghost() &&
         !value.place->weak.expired();
}

}  // namespace

std::vector<std::weak_ptr<Value>> Restorer::dropped_survivors(Books::Lock& lock) {
  std::vector<std::weak_ptr<Value>> dropped;
  for (const Cell* cell : books_.cells(lock)) {
    if (is_dropped_survivor(*cell->value)) dropped.push_back(cell->value);
  }
  return dropped;
}

bool Restorer::bring_back_survivors() {
  std::vector<std::weak_ptr<Value>> dropped;
  {
    Books::Lock lock(books_);
    dropped = dropped_survivors(lock);
    if (dropped.empty()) {
      // Under the same lock: a value that another thread drops after the search, and which then
      // became a source, would be lost.
      forget_how_values_were_made(lock);
      return false;
    }
  }
  for (const std::weak_ptr<Value>& survivor : dropped) bring_back_survivor(survivor);
  return true;
}

void Restorer::bring_back_survivor(const std::weak_ptr<Value>& survivor) {
  ValueP value;
  {
    Books::Lock lock(books_);
    value = survivor.lock();
    // Another replay may have brought it back, or its storage has died meanwhile.
    if (!value || !is_dropped_survivor(*value)) {
      value.reset();
      return;
    }
    ++value->pins;
  }
  const auto unpin = [&](bool is_back) {
    Books::Lock lock(books_);
    --value->pins;
    if (is_back) books_.make_source(*value, lock);
    value.reset();
  };
  try {
    restore(value);
  } catch (...) {
    unpin(false);
    throw;
  }
  unpin(true);
}

void Restorer::forget_how_values_were_made(Books::Lock& lock) {
  books_.bury_dead(lock);
  for (Cell* cell : books_.cells(lock)) cell->value->readers.clear();
  for (Cell* cell : books_.cells(lock)) books_.make_source(*cell->value, lock);
  ++books_.step_number;
  books_.step_start_seconds = books_.clock_seconds;
  ++books_.counters.steps;
}

void Restorer::end_step() {
  // What another thread is bringing back may need values that would lose their records here.
  const Turn turn(*this);
  // Those without bytes first, while what they are computed from can still be evicted for them.
  while (bring_back_survivors()) {
  }
}

bool has_readers(const Value& value) {
  return std::any_of(value.readers.begin(), value.readers.end(),
                     [](const std::weak_ptr<Record>& reader) { return !reader.expired(); });
}

void add_reader(Value& value, const RecordP& record) {
  // Values that many ops read (parameters over a long step) collect dead entries: sweep now and
  // then.
  constexpr std::size_t kSweepAt = 32;
  const std::size_t count = value.readers.size();
  if (count >= kSweepAt && (count & (count - 1)) == 0) {
    const auto last =
        std::remove_if(value.readers.begin(), value.readers.end(),
                       [](const std::weak_ptr<Record>& reader) { return reader.expired(); });
    value.readers.erase(last, value.readers.end());
  }
  value.readers.push_back(record);
}

}  // namespace lowtide::run
