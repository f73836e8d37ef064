// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "run/torch/guide.h"

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "lowtide/errors.h"
#include "run/torch/replay.h"
#include "run/torch/storage_access.h"

namespace lowtide::run {
void Guide::add_plan(std::shared_ptr<const engine::GuidedStep> step) {
  remove_plan(step->shape());
  plans_.insert(plans_.begin(), std::move(step));
}

void Guide::remove_plan(std::uint64_t shape) {
  std::erase_if(plans_, [shape](const auto& plan) { return plan->shape() == shape; });
}

void Guide::begin_step(bool is_guided, bool is_timed) {
  is_at_start_ = is_guided;
  is_timed_ = is_timed;
  last_ = {};
}

std::optional<StepStalls> Guide::take_stalls() {
  std::optional<std::vector<engine::Stall>> stalls = stalls_.take();
  if (!stalls) return std::nullopt;
  return StepStalls{.step = std::exchange(timed_step_, nullptr), .stalls = *std::move(stalls)};
}

void Guide::start(StepP step) {
  step_ = std::move(step);
  stream_ = books_.device().current_stream();
  position_ = 0;
  cells_.assign(step_->trace().storages().size(), nullptr);
  versions_.assign(step_->trace().storages().size(), 0);
  records_.assign(step_->trace().ops().size(), {});
  dropped_dead_.clear();
  is_guess_.assign(step_->trace().storages().size(), false);
  guess_survivors();
  books_.observer = this;
  if (is_timed_) {
    // Of a step that left its plan, or of a session that has ended.
    stalls_.forget();
    books_.stalls = &stalls_;
  }
  ++counters_.steps;
}

// Most of what outlives a step is used by the next one in the same way, but some of it late: the
// plan may want it moved before that.
void Guide::guess_survivors() {
  for (const auto& [storage, weak] : survivors_) {
    Cell* cell = books_.known_cell(weak);
    if (cell == nullptr) continue;
    if (survivors_of_ != step_) {
      // Another plan fetched it, if it is still on its way.
      cell->value->fetched_by = -1;
      continue;
    }
    cells_[storage.slot()] = cell;
    cell->guided_storage = storage.index;
    is_guess_[storage.slot()] = true;
  }
  survivors_.clear();
}

// Actions that are under way or due are none of the plan's that the step follows from here on.
void Guide::forget_actions() {
  stalls_.forget();
  for (Cell* cell : cells_) {
    if (cell != nullptr) cell->value->fetched_by = -1;
  }
  for (DueFetch& due : reading_) due.action = -1;
  for (DueFetch& due : due_fetches_) due.action = -1;
  // What does not go now goes when room is needed.
  due_moves_.clear();
}

void Guide::forget_guess(std::size_t storage) {
  if (!is_guess_[storage]) return;
  is_guess_[storage] = false;
  if (Cell* cell = std::exchange(cells_[storage], nullptr)) cell->guided_storage = -1;
}

void Guide::note_survivors() {
  survivors_of_ = step_;
  for (std::size_t i = 0; i < cells_.size(); ++i) {
    const auto id = make_id<StorageId>(i);
    const Storage& storage = step_->trace().storage(id);
    if (cells_[i] == nullptr || !storage.at_start || !storage.at_end) continue;
    survivors_.emplace_back(id, cells_[i]->weak);
  }
}

void Guide::end_step(Books::Lock& lock) {
  is_at_start_ = false;
  catch_up();
  if (!step_) return;
  const auto end = static_cast<int>(step_->trace().ops().size());
  if (position_ != static_cast<std::size_t>(end)) {
    break_off(lock);
    return;
  }
  // What the plan wants away before the next step begins.
  release_after(end, lock);
  for (const std::int32_t action : std::exchange(due_moves_, {})) {
    move(std::get<Move>(step_->plan().actions[static_cast<std::size_t>(action)]), lock);
  }
  if (is_timed_) timed_step_ = step_;
  note_survivors();
  leave_step();
}

void Guide::stop(Books::Lock& lock) {
  is_at_start_ = false;
  plans_.clear();
  survivors_.clear();
  survivors_of_.reset();
  if (step_) break_off(lock);
}

void Guide::break_off(Books::Lock&) {
  ++counters_.broken_off;
  forget_actions();
  leave_step();
}

void Guide::leave_step() {
  // What an optimizer does may depend on what is away.
  const bool is_mostly_done = 4 * position_ >= 3 * step_->trace().ops().size();
  last_.guided_shape = is_mostly_done ? step_->shape() : 0;
  last_.is_unknown = !is_mostly_done;
  for (auto& [tick, storage] : holds_) books_.discard(std::move(storage));
  holds_.clear();
  reading_.clear();
  due_fetches_.clear();
  due_moves_.clear();
  books_.stalls = nullptr;
  for (Cell* cell : cells_) {
    if (cell != nullptr) cell->guided_storage = -1;
  }
  cells_.clear();
  records_.clear();
  dropped_dead_.clear();
  ghosts_.clear();
  held_ghosts_.clear();
  step_.reset();
  may_be_quiet_ = false;
  views_ahead_ = 0;
  views_passed_ = 0;
  if (books_.observer == this) books_.observer = nullptr;
}

bool Guide::wants_record() const {
  // A step that leaves its plan can let go of nothing else.
  if (!books_.rules.may_move) return true;
  if (!step_ || position_ >= step_->trace().ops().size()) return true;
  return step_->is_repeated(position_);
}

// Storages that the plan leaves alone are not followed.
bool Guide::bind(StorageId storage, Cell* cell) {
  if (!step_->is_touched(storage)) return true;
  Cell*& bound = cells_[storage.slot()];
  if (bound != cell) {
    forget_guess(storage.slot());
    // It was taken for another one.
    if (cell->guided_storage >= 0) forget_guess(static_cast<std::size_t>(cell->guided_storage));
  }
  is_guess_[storage.slot()] = false;
  if (bound == nullptr) {
    bound = cell;
    cell->guided_storage = static_cast<std::int32_t>(storage.slot());
  }
  return bound == cell;
}

int Guide::follow(std::uint64_t signature, std::span<Cell* const> arguments, Books::Lock& lock) {
  if (is_at_start_) {
    is_at_start_ = false;
    const auto known = std::find_if(plans_.begin(), plans_.end(), [&](const auto& plan) {
      return plan->script().lines.front().signature == signature;
    });
    if (known != plans_.end()) start(*known);
  }
  if (!step_) return -1;
  bool is_right =
      expects(*step_, signature, arguments.size()) || switch_plan(signature, arguments.size());
  if (is_right) {
    const engine::StepScript& script = step_->script();
    const auto storages = script.arguments(script.lines[position_]);
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      is_right = is_right && bind(storages[i], arguments[i]);
    }
  }
  if (!is_right) {
    break_off(lock);
    return -1;
  }
  return go_on();
}

int Guide::go_on() {
  const auto tick = static_cast<int>(position_++);
  look_ahead();
  return tick;
}

void Guide::look_ahead() {
  const int views = step_->quiet_views_from(position_);
  const std::size_t next = position_ + static_cast<std::size_t>(views);
  views_ahead_ = views;
  may_be_quiet_ = next < step_->script().lines.size() && step_->is_quiet(next);
}

bool Guide::pass_view() {
  int ahead = views_ahead_.load();
  while (ahead > 0 && !views_ahead_.compare_exchange_weak(ahead, ahead - 1)) {
  }
  if (ahead <= 0) return false;
  ++views_passed_;
  return true;
}

void Guide::catch_up() {
  const int passed = views_passed_.exchange(0);
  if (passed == 0 || !step_) return;
  position_ += static_cast<std::size_t>(passed);
  books_.counters.ops += passed;
}

bool Guide::expects_quiet(std::uint64_t signature) const {
  if (!step_ || position_ >= step_->script().lines.size()) return false;
  // Moves that are due wait for departures, and ops at which something departs are not quiet.
  if (!due_fetches_.empty()) return false;
  return step_->script().lines[position_].signature == signature && step_->is_quiet(position_);
}

bool Guide::are_ready(std::span<c10::StorageImpl* const> arguments, void* stream) const {
  // Nobody would mark what it uses as shared between streams.
  if (stream != stream_) return false;
  const engine::StepScript& script = step_->script();
  const auto storages = script.arguments(script.lines[position_]);
  if (storages.size() != arguments.size()) return false;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (!step_->is_touched(storages[i])) continue;
    const Cell* cell = cells_[storages[i].slot()];
    if (cell == nullptr || cell->impl != arguments[i] || cell->data != bytes_of(*arguments[i])) {
      return false;
    }
    if (!cell->value->is_resident() || cell->value->is_arriving || cell->stream != stream) {
      return false;
    }
  }
  return true;
}

void Guide::after_quiet_op(int tick, std::span<const at::Tensor* const> results, bool is_blank,
                           Books::Lock& lock) {
  // Another thread may have ended the step.
  if (!step_ || static_cast<std::size_t>(tick) >= position_) return;
  const engine::StepScript& script = step_->script();
  const auto& line = script.lines[static_cast<std::size_t>(tick)];
  books_.clock_seconds +=
      step_->trace().op(make_id<OpId>(static_cast<std::size_t>(tick))).device_seconds.value_or(0);
  for (const Use& read : step_->trace().reads(make_id<OpId>(static_cast<std::size_t>(tick)))) {
    Cell* cell = cells_[step_->trace().value(read.value).storage.slot()];
    if (cell != nullptr) books_.use(*cell->value);
  }
  const auto made = script.results(line);
  bool is_expected = made.size() == results.size();
  for (std::size_t i = 0; is_expected && i < made.size(); ++i) {
    if (!step_->is_touched(made[i])) {
      books_.note_unseen(results[i]->storage().unsafeGetStorageImpl(), lock);
      continue;
    }
    Cell* cell = books_.add_cell(*results[i], lock);
    is_expected = cell != nullptr && bind(made[i], cell);
    if (cell != nullptr) cell->value->is_blank = is_blank;
  }
  if (!is_expected) {
    break_off(lock);
    return;
  }
  note_written(tick);
}

void Guide::give_up(Books::Lock& lock) {
  if (step_) break_off(lock);
}

void Guide::note_written(int tick) {
  for (const Use& written : step_->trace().writes(make_id<OpId>(static_cast<std::size_t>(tick)))) {
    const lowtide::Value& value = step_->trace().value(written.value);
    versions_[value.storage.slot()] = value.version;
    const Cell* cell = cells_[value.storage.slot()];
    if (cell != nullptr && step_->is_dropped_dead(written.value)) {
      dropped_dead_[written.value] = cell->value;
    }
  }
}

bool Guide::expects(const engine::GuidedStep& step, std::uint64_t signature,
                    std::size_t arguments) const {
  const auto& lines = step.script().lines;
  return position_ < lines.size() && lines[position_].signature == signature &&
         lines[position_].arguments == arguments;
}

// Steps of several lengths begin alike. Storages are numbered in the order of their use, so those
// seen so far have the same numbers in both.
bool Guide::switch_plan(std::uint64_t signature, std::size_t arguments) {
  const auto found = std::find_if(plans_.begin(), plans_.end(), [&](const StepP& other) {
    return expects(*other, signature, arguments) &&
           other->script().begins_as(step_->script(), position_);
  });
  if (found == plans_.end()) return false;
  forget_actions();
  for (std::size_t i = 0; i < cells_.size(); ++i) forget_guess(i);
  dropped_dead_.clear();
  step_ = *found;
  cells_.resize(step_->trace().storages().size(), nullptr);
  versions_.resize(step_->trace().storages().size(), 0);
  records_.resize(step_->trace().ops().size());
  is_guess_.resize(step_->trace().storages().size(), false);
  std::rotate(plans_.begin(), found, found + 1);
  return true;
}

ValueP Guide::current(ValueId id) const {
  const lowtide::Value& value = step_->trace().value(id);
  const Cell* cell = cells_[value.storage.slot()];
  if (cell == nullptr || versions_[value.storage.slot()] != value.version) return nullptr;
  return cell->weak.expired() ? nullptr : cell->value;
}

bool Guide::has_work_before(int tick, Books::Lock& lock) {
  if (!step_) return false;
  if (!due_fetches_.empty()) return true;
  if (!reading_.empty()) {
    const ValueP first = reading_.front().value.lock();
    if (!first || !books_.moved(lock).reading(first->copy)) return true;
  }
  const plan::Schedule::At at = step_->schedule().at(tick);
  return !at.issues.empty() || !at.prelude.empty();
}

void Guide::before_op(int tick) {
  StepP step;
  {
    Books::Lock lock(books_);
    step = step_;
  }
  if (!step) return;
  fetch_what_is_due();
  const plan::Schedule::At at = step->schedule().at(tick);
  const auto action = [&](std::int32_t index) -> const Action& {
    return step->plan().actions[static_cast<std::size_t>(index)];
  };
  for (const std::int32_t index : at.issues) {
    if (std::holds_alternative<Fetch>(action(index))) fetch(step, index);
  }
  const std::map<OpId, std::int32_t> last_readers = step->last_readers(at.prelude);
  for (const std::int32_t index : at.prelude) {
    if (const Run* run = std::get_if<Run>(&action(index))) {
      std::vector<ValueP> ghosts = repeat(step, run->op);
      const auto reader = last_readers.find(run->op);
      Books::Lock lock(books_);
      keep_ghosts(std::move(ghosts), step->held_until(run->op, tick),
                  reader == last_readers.end() ? index : reader->second);
      let_go_of(ghosts_, index, lock);
    }
    if (const Drop* dropped = std::get_if<Drop>(&action(index))) {
      Books::Lock lock(books_);
      if (step_ == step) drop(dropped->value, lock);
    }
  }
}

void Guide::note_record(int tick, const RecordP& record) {
  if (step_) records_[static_cast<std::size_t>(tick)] = record;
}

// Ghosts too, where replays to come may ask for them: what those are made from is there now.
std::vector<ValueP> Guide::missing_results(const Record& record) {
  std::vector<ValueP> missing;
  const auto add = [&](const std::weak_ptr<Value>& weak) {
    ValueP value = weak.lock();
    if (!value || value->residency != Residency::kDropped) return;
    if (!value->is_ghost() || has_readers(*value)) missing.push_back(std::move(value));
  };
  for (const auto& output : record.outputs) add(output);
  for (const auto& [ref, written] : record.written) add(written);
  return missing;
}

std::vector<ValueP> Guide::repeat(const StepP& step, OpId op) {
  std::vector<ValueP> missing;
  {
    Books::Lock lock(books_);
    if (step_ != step) return {};
    if (const RecordP record = records_[op.slot()].lock()) missing = missing_results(*record);
  }
  const auto forget_living = [&] {
    Books::Lock lock(books_);
    std::erase_if(missing, [](const ValueP& value) { return !value->is_ghost(); });
  };
  const auto give_up = [&] {
    forget_living();
    Books::Lock lock(books_);
    missing.clear();
    ++counters_.skipped;
  };
  try {
    for (const ValueP& value : missing) restorer_.restore(value);
  } catch (const OutOfMemory&) {
    // More is held than the plan knows of. It is made again when an op asks for it.
    give_up();
    return {};
  } catch (...) {
    give_up();
    throw;
  }
  forget_living();
  return missing;
}

void Guide::keep_ghosts(std::vector<ValueP> ghosts, int held_until, std::int32_t last_reader) {
  for (ValueP& ghost : ghosts) {
    if (held_until >= 0) {
      held_ghosts_.emplace(held_until, std::move(ghost));
    } else {
      ghosts_.emplace(last_reader, std::move(ghost));
    }
  }
}

void Guide::let_go_of(Ghosts& ghosts, int until, Books::Lock& lock) {
  const auto end = ghosts.upper_bound(until);
  for (auto entry = ghosts.begin(); entry != end; ++entry) let_go_of(*entry->second, lock);
  ghosts.erase(ghosts.begin(), end);
}

void Guide::let_go_of(Value& ghost, Books::Lock& lock) {
  if (!ghost.is_ghost() || !ghost.is_resident() || ghost.pins > 0) return;
  books_.discard(books_.take_temporary(ghost, lock));
}

// Of a value that has died, a replay may have brought the bytes back: they go where the plan says,
// since what it does next may need the room.
void Guide::drop_dead(ValueId id, Books::Lock& lock) {
  const auto known = dropped_dead_.find(id);
  if (known == dropped_dead_.end()) return;
  if (const ValueP ghost = known->second.lock()) let_go_of(*ghost, lock);
}

void Guide::drop(ValueId id, Books::Lock& lock) {
  const ValueP value = current(id);
  if (!value) return drop_dead(id, lock);
  if (!value->is_resident()) return;
  if (!books_.drop_value(*value, lock)) ++counters_.skipped;
}

void Guide::release(std::int32_t index, Books::Lock& lock) {
  const Action& action = step_->plan().actions[static_cast<std::size_t>(index)];
  if (const Drop* dropped = std::get_if<Drop>(&action)) drop(dropped->value, lock);
  if (!std::holds_alternative<Move>(action)) return;
  due_moves_.push_back(index);
  move_what_is_due(lock);
}

void Guide::after_op(int tick, std::span<Cell* const> results, Books::Lock& lock) {
  if (!step_ || static_cast<std::size_t>(tick) >= position_) return;
  const auto& lines = step_->script().lines;
  const auto& line = lines[static_cast<std::size_t>(tick)];
  const auto storages = step_->script().results(line);
  bool is_expected = storages.size() == results.size();
  for (std::size_t i = 0; is_expected && i < results.size(); ++i) {
    is_expected = bind(storages[i], results[i]);
  }
  if (!is_expected) {
    break_off(lock);
    return;
  }
  note_written(tick);
  take_holds(tick);
  release_after(tick, lock);
  let_go_of_holds(tick, lock);
}

void Guide::release_after(int tick, Books::Lock& lock) {
  move_what_is_due(lock);
  for (const std::int32_t index : step_->schedule().at(tick).releases) release(index, lock);
  for (const ValueId id : step_->departed_in(static_cast<std::size_t>(tick))) {
    if (const ValueP value = current(id)) books_.finish_move(*value, lock);
    move_what_is_due(lock);
  }
}

void Guide::take_holds(int tick) {
  for (const Hold& hold : step_->holds_from(static_cast<std::size_t>(tick))) {
    if (const ValueP value = current(hold.value)) {
      holds_.emplace(step_->schedule().last_tick(hold), books_.storage_of(*value));
    }
  }
}

void Guide::let_go_of_holds(int tick, Books::Lock& lock) {
  let_go_of(held_ghosts_, tick, lock);
  const auto end = holds_.upper_bound(tick);
  for (auto hold = holds_.begin(); hold != end; ++hold) books_.discard(std::move(hold->second));
  holds_.erase(holds_.begin(), end);
}

void Guide::on_buried(const Cell& cell) {
  const auto storage = static_cast<std::size_t>(cell.guided_storage);
  if (cell.guided_storage >= 0 && storage < cells_.size()) cells_[storage] = nullptr;
}

}  // namespace lowtide::run
