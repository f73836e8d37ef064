// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
//
// Which value goes when memory runs short: the part of the books that is the online rule. It is
// DTR's (Kirisame et al., ICLR 2021): the lowest cost per byte and staleness, where the cost of
// dropping is that of the value's op and of the classes of dropped values that touch it (their
// cheap form of e*). Beside it stands the cost of moving to the host and back; the cheaper of both
// counts.
//
// We depart from the paper in one point. What the program itself has released is not put in the
// classes: nobody will ask for most of it, and in backward it would join everything into one class.
// Instead its cost is added to that of the ops that read it, which is where it would have to be
// paid.
#include <algorithm>
#include <cmath>

#include "run/torch/books.h"

namespace lowtide::run {
namespace {

// Up to so many candidates, all are looked at; of more, a sample.
constexpr std::size_t kLookAtAll = 64;

std::size_t sample_size(std::size_t candidates) {
  return kLookAtAll / 2 + static_cast<std::size_t>(std::sqrt(static_cast<double>(candidates)));
}

// What dropping a value costs changes when its neighbours are dropped or come back, which is
// seldom; and to find it out takes many times as long as to look it up. So it is found out anew
// only after so many drops.
constexpr std::int64_t kDropsBetweenLooks = 16;

// A block that is too small for the request does not make room for it where it was: torch's
// allocator must then give pages back and take others, for which it waits for the device. A far
// larger one is cut up.
double misfit(std::int64_t bytes, std::int64_t request_bytes) {
  if (bytes < request_bytes) return 8;
  return bytes > 4 * request_bytes ? 2 : 1;
}

}  // namespace

void Books::add_candidate(Value& value) {
  if (value.candidate >= 0 || !value.is_resident() || value.bytes < rules.floor_bytes) return;
  if (value.bytes == 0 || (!can_drop(value) && !can_move(value))) return;
  value.candidate = static_cast<std::int32_t>(candidates_.size());
  candidates_.push_back(&value);
}

void Books::remove_candidate(Value& value) {
  if (value.candidate < 0) return;
  candidates_[static_cast<std::size_t>(value.candidate)] = candidates_.back();
  candidates_.back()->candidate = value.candidate;
  candidates_.pop_back();
  value.candidate = -1;
}

std::int64_t Books::evict(std::int64_t bytes, std::int64_t request_bytes) {
  const std::int64_t before = device_.ledger().held_bytes();
  std::int64_t freed = evict_values(bytes, request_bytes);
  const auto let_go_of_records = [this] {
    Lock lock(*this);
    return give_up_records(lock);
  };
  // On the host too there is room again after that.
  if (freed < bytes && let_go_of_records()) {
    freed = std::max(freed, before - device_.ledger().held_bytes());
    if (freed < bytes) freed += evict_values(bytes - freed, request_bytes);
  }
  // Storages that died meanwhile count as freed too.
  return std::max(freed, before - device_.ledger().held_bytes());
}

std::int64_t Books::evict_values(std::int64_t bytes, std::int64_t request_bytes) {
  Lock lock(*this);
  bury_dead(lock);
  std::int64_t freed = evict_leaving(bytes, lock);
  bool are_refused_in = false;
  while (freed < bytes) {
    Value* victim = best_victim(request_bytes, lock);
    if (victim == nullptr) {
      if (see_unseen(lock)) continue;
      if (are_refused_in || !reconsider_refused(lock)) break;
      are_refused_in = true;
      continue;
    }
    const std::int64_t size = device_.rounded(victim->bytes);
    if (!evict_value(*victim, lock)) {
      // Its block cannot go after all (no room on the host, say): it is not looked at again until
      // nothing else is left.
      remove_candidate(*victim);
      continue;
    }
    freed += size;
  }
  return freed;
}

// What could not go before may go by now. False: there was nothing of the kind.
bool Books::reconsider_refused(Lock&) {
  const std::size_t before = candidates_.size();
  for (auto& [impl, cell] : cells_) add_candidate(*cell->value);
  return candidates_.size() > before;
}

// Their copies were begun long ago, so that these go for nothing.
std::int64_t Books::evict_leaving(std::int64_t bytes, Lock& lock) {
  std::int64_t freed = 0;
  while (freed < bytes && !leaving_.empty()) {
    const ValueP value = leaving_.front().lock();
    leaving_.pop_front();
    if (value && finish_move(*value, lock)) freed += device_.rounded(value->bytes);
  }
  return freed;
}

bool Books::finish_move(Value& value, Lock& lock) {
  return value.is_leaving && can_evict(value) && owns_block(value) && move_out(value, lock);
}

Value* Books::best_victim(std::int64_t request_bytes, Lock&) {
  Value* best = nullptr;
  double best_score = 0;
  const auto consider = [&](Value* value) {
    if (!can_evict(*value)) return;
    const double its_score = score(*value) * misfit(value->bytes, request_bytes);
    if (best == nullptr || its_score < best_score) {
      best = value;
      best_score = its_score;
    }
  };
  const std::size_t count = candidates_.size();
  if (count > kLookAtAll) {
    for (std::size_t i = sample_size(count); i > 0; --i)
      consider(candidates_[random_.below(count)]);
  }
  if (best == nullptr) {
    for (Value* value : candidates_) consider(value);
  }
  return best;
}

double Books::score(Value& value) {
  constexpr double kShortest = 1e-7;
  const double stale_seconds = clock_seconds - value.last_use_seconds + kShortest;
  return eviction_seconds(value) / (static_cast<double>(value.bytes) * stale_seconds);
}

double Books::eviction_seconds(Value& value) {
  if (!can_drop(value)) return move_seconds(value);
  if (value.drop_seconds_known_at + kDropsBetweenLooks < counters.drops) {
    value.drop_seconds = drop_seconds(value);
    value.drop_seconds_known_at = counters.drops;
  }
  if (!can_move(value)) return value.drop_seconds;
  return std::min(value.drop_seconds, move_seconds(value));
}

bool Books::dropping_is_cheaper(const Value& value) {
  return drop_seconds(value) <= move_seconds(value);
}

void Books::tell_of_choice(const Value& value) {
  plan::EvictionPrice price{.unused_seconds = clock_seconds - value.last_use_seconds};
  if (can_drop(value)) price.drop_seconds = drop_seconds(value);
  if (can_move(value)) price.move_seconds = move_seconds(value);
  for (Witness* witness : witnesses) witness->on_choice(value, price);
}

double Books::drop_seconds(const Value& value) {
  double seconds = value.producer->replay_seconds;
  classes_seen_.clear();
  for_each_dropped_neighbour(value, [&](const Value& neighbour) {
    const std::int32_t root = classes_.find(neighbour.dropped_class);
    if (std::find(classes_seen_.begin(), classes_seen_.end(), root) != classes_seen_.end()) return;
    classes_seen_.push_back(root);
    seconds += classes_.weight(root);
  });
  return seconds;
}

double Books::move_seconds(const Value& value) const {
  const double back = device_.copy_in_seconds(value.bytes) + moved_.read_seconds(value.copy);
  if (!value.copy.is_empty()) return back;
  return back + device_.copy_out_seconds(value.bytes) + moved_.spill_seconds(value.bytes);
}

template <class Visit>
void Books::for_each_dropped_neighbour(const Value& value, const Visit& visit) const {
  const auto visit_if_dropped = [&](const Value* neighbour) {
    if (neighbour != nullptr && neighbour != &value && neighbour->dropped_class >= 0)
      visit(*neighbour);
  };
  if (value.producer) {
    for (const Ref& ref : value.producer->refs) {
      if (!ref.is_scratch) visit_if_dropped(ref.value.get());
    }
  }
  for (const std::weak_ptr<Record>& weak : value.readers) {
    const RecordP reader = weak.lock();
    if (!reader) continue;
    for (const std::weak_ptr<Value>& output : reader->outputs)
      visit_if_dropped(output.lock().get());
    for (const auto& [ref, written] : reader->written) visit_if_dropped(written.lock().get());
  }
}

void Books::on_dropped(Value& value) {
  // A ghost's cost is part of its readers' already.
  if (value.is_ghost() || !value.producer || value.dropped_class >= 0) return;
  value.dropped_seconds = value.producer->replay_seconds;
  value.dropped_class = classes_.make(value.dropped_seconds);
  ++dropped_values_;
  for_each_dropped_neighbour(value, [&](const Value& neighbour) {
    classes_.unite(value.dropped_class, neighbour.dropped_class);
  });
}

void Books::on_returned(Value& value) {
  if (value.dropped_class < 0) return;
  classes_.add_weight(value.dropped_class, -value.dropped_seconds);
  value.dropped_class = -1;
  --dropped_values_;
}

// From now on a replay of an op that reads it must make it first. Where paths meet again its cost
// is counted twice; but no replay costs more than the step so far.
void Books::on_released(Value& value) {
  on_returned(value);
  if (!value.producer) return;
  const double most = clock_seconds - step_start_seconds;
  for (const std::weak_ptr<Record>& weak : value.readers) {
    if (const RecordP reader = weak.lock()) {
      reader->replay_seconds =
          std::min(reader->replay_seconds + value.producer->replay_seconds, most);
    }
  }
}

void Books::forget_classes() {
  if (dropped_values_ == 0) classes_ = {};
}

void Books::begin_sampling() { random_ = base::Random(1); }

}  // namespace lowtide::run
