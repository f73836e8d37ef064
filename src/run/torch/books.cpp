// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "run/torch/books.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

#include "base/check.h"
#include "run/torch/storage_access.h"

namespace lowtide::run {
namespace {

// A storage died, or was given other bytes, while its own were evicted.
void on_evicted_death(void* token) {
  Cell* cell = static_cast<Cell*>(token);
  cell->books.on_block_freed(nullptr, {.owner = cell});
}

}  // namespace

Books::Books(engine::Device& device, c10::Device torch_device)
    : device_(device), torch_device_(torch_device), moved_(device) {}

Books::~Books() {
  Lock lock(*this);
  forget_all(lock);
}

void Books::forget_all(Lock&) {
  for (auto& [impl, cell] : cells_) {
    if (cell->data != nullptr) device_.ledger().set_owner(cell->data, nullptr);
  }
  cells_.clear();
  unseen_.clear();
  destroy_doomed();
  const std::lock_guard dead_lock(dead_mutex_);
  dead_.clear();
}

void Books::set_rules(const Rules& new_rules, Lock&) {
  rules = new_rules;
  for (auto& [impl, cell] : cells_) {
    remove_candidate(*cell->value);
    add_candidate(*cell->value);
  }
}

Books::Lock::~Lock() {
  books_.destroy_doomed();
  std::vector<c10::Storage> discarded;
  discarded.swap(books_.discarded_);
  lock_.unlock();
}

// A chain of thousands of records, each owning the value before it, must not be destroyed by
// recursion.
void Books::destroy_doomed() {
  while (!doomed_.empty()) {
    const RecordP record = std::move(doomed_.back());
    doomed_.pop_back();
  }
}

Value::~Value() { books.on_value_destroyed(*this); }

Record::Record(Books& owner, const c10::OperatorHandle& op) : books(owner), handle(op) {}

Record::~Record() {
  if (is_entered) --books.records_alive;
  for (Ref& ref : refs) {
    if (ref.hold) books.discard(std::move(ref.hold));
  }
}

bool Books::is_ours(const at::Tensor& tensor) const {
  return tensor.device() == torch_device_ && tensor.has_storage() &&
         tensor.storage().device_type() == torch_device_.type();
}

Cell* Books::add_cell(const at::Tensor& tensor, Lock& lock) {
  if (!is_ours(tensor)) return nullptr;
  c10::StorageImpl* impl = tensor.storage().unsafeGetStorageImpl();
  return cells_.contains(impl) ? nullptr : make_cell(impl, lock);
}

Cell* Books::find_cell(const at::Tensor& tensor, Lock& lock) {
  return is_ours(tensor) ? find_cell(tensor.storage(), lock) : nullptr;
}

Cell* Books::find_cell(const c10::Storage& storage, Lock& lock) {
  if (storage.device() != torch_device_) return nullptr;
  c10::StorageImpl* impl = storage.unsafeGetStorageImpl();
  const auto found = cells_.find(impl);
  if (found == cells_.end()) return make_cell(impl, lock);
  Cell& cell = *found->second;
  if (bytes_of(*impl) != cell.data) refresh(cell, lock);
  return &cell;
}

void Books::forget_copy(Value& value, Lock&) {
  if (!value.is_resident()) return;
  moved_.free(value.copy);
  set_leaving(value, false);
}

bool Books::is_in_use(const at::Tensor& tensor, Lock&) const {
  const auto found = cells_.find(tensor.storage().unsafeGetStorageImpl());
  // What no op has given out yet is in no book, so that nobody evicts it.
  if (found == cells_.end()) return true;
  const Value& value = *found->second->value;
  return value.is_resident() && (value.pins > 0 || is_used_quietly(value));
}

Cell* Books::known_cell(const c10::weak_intrusive_ptr<c10::StorageImpl>& storage) const {
  if (storage.expired()) return nullptr;
  const auto found = cells_.find(storage._unsafe_get_target());
  return found == cells_.end() ? nullptr : found->second.get();
}

Cell* Books::make_cell(c10::StorageImpl* impl, Lock& lock) {
  if (!claim_block(impl)) return nullptr;
  auto cell = std::make_unique<Cell>(*this, impl);
  cell->born_step = step_number;
  Cell* result = cell.get();
  cells_.emplace(impl, std::move(cell));
  refresh(*result, lock);
  return result;
}

// Ours are only blocks that a gate handed out whole; blocks of before the gate are adopted. Blobs,
// shared memory and copy-on-write data are left alone.
bool Books::claim_block(c10::StorageImpl* impl) {
  c10::DataPtr& data = impl->_mutable_data_ptr_no_checks();
  if (data.get() == nullptr || data.get() != data.get_context()) return false;
  if (device_.is_gate_deleter(data.get_deleter())) return true;
  if (!device_.is_native_deleter(data.get_deleter())) return false;
  void* address = data.get();
  const c10::Device where = data.device();
  data.release_context();
  device_.ledger().adopt_block(address, device_.rounded(static_cast<std::int64_t>(impl->nbytes())),
                               device_.counts_earlier_blocks());
  impl->set_data_ptr_noswap(c10::DataPtr(address, address, device_.gate_deleter(), where));
  return true;
}

bool Books::can_manage(const at::Tensor& tensor, Lock&) const {
  if (!is_ours(tensor)) return false;
  const c10::DataPtr& data = tensor.storage().unsafeGetStorageImpl()->_mutable_data_ptr_no_checks();
  if (data.get() == nullptr || data.get() != data.get_context()) return false;
  return device_.is_gate_deleter(data.get_deleter()) ||
         device_.is_native_deleter(data.get_deleter());
}

void Books::own_block(Cell& cell) {
  // Others may still have the old one, as where torch copied on a write.
  if (cell.data != nullptr) device_.ledger().clear_owner(cell.data, &cell);
  cell.data = bytes_of(*cell.impl);
  if (cell.data == nullptr) return;
  const auto block = device_.ledger().set_owner(cell.data, &cell);
  cell.stream = block ? block->stream : nullptr;
  cell.is_in_overflow = block && block->overflow == &device_.overflow();
}

// Its bytes lie in host memory already: there they stay until an op wants them.
void Books::move_from_overflow(Cell& cell, Lock&) {
  Value& value = *cell.value;
  device_.ledger().set_owner(cell.data, nullptr);
  device_.keep_as_host_copy(cell.data);
  moved_.adopt(value.copy, cell.data, value.bytes);
  value.residency = Residency::kMoved;
  cell.data = nullptr;
  cell.is_in_overflow = false;
  take_bytes(*cell.impl, &cell, &on_evicted_death).release_context();
}

// The storage has other bytes than those we knew: whatever they are, nobody can make them again.
void Books::refresh(Cell& cell, Lock& lock) {
  if (cell.value) detach_value(cell, lock);
  claim_block(cell.impl);
  own_block(cell);
  auto value = new_value();
  value->place = &cell;
  value->bytes = static_cast<std::int64_t>(cell.impl->nbytes());
  cell.value = std::move(value);
  use(*cell.value);
  if (cell.is_in_overflow && cell.holds == 0 && device_.ledger().overflow() == nullptr) {
    move_from_overflow(cell, lock);
  } else {
    add_candidate(*cell.value);
  }
}

ValueP Books::new_value() {
  return std::allocate_shared<Value>(std::pmr::polymorphic_allocator<Value>(&pool_), *this);
}

RecordP Books::new_record(const c10::OperatorHandle& op) {
  return std::allocate_shared<Record>(std::pmr::polymorphic_allocator<Record>(&pool_), *this, op);
}

ValueP Books::renew(Cell& cell, RecordP producer, Lock& lock) {
  refresh(cell, lock);
  if (producer) set_producer(*cell.value, std::move(producer));
  return cell.value;
}

void Books::set_producer(Value& value, RecordP producer) {
  value.producer = std::move(producer);
  add_candidate(value);
}

// The storage no longer holds its value. Replays may still ask for it.
void Books::detach_value(Cell& cell, Lock&) {
  Value& value = *cell.value;
  remove_candidate(value);
  moved_.free(value.copy);
  set_leaving(value, false);
  set_arriving(value, false);
  value.place = nullptr;
  value.residency = Residency::kDropped;
  on_released(value);
  cell.value.reset();
}

// The storage has died, but its block's deleter has not told us yet, and will name the cell.
void Books::abandon(Cell& cell, Lock& lock) {
  detach_value(cell, lock);
  cell.value = new_value();
  cell.value->place = &cell;
}

c10::Storage Books::keep_alive(Value& value, Lock& lock) {
  c10::Storage storage = storage_of(value);
  if (!storage && value.place != nullptr) abandon(*value.place, lock);
  return storage;
}

void Books::use_on_stream(Cell& cell, void* stream) {
  if (stream == cell.stream) return;
  // In the order of that stream we could not give the block back.
  device_.ledger().mark_shared_between_streams(cell.data);
}

void Books::use(Value& value) {
  set_leaving(value, false);
  // A view uses what it looks at without bringing it back.
  if (value.is_resident()) moved_.set_spare(value.copy, true);
  value.last_use = op_number;
  value.last_use_seconds = clock_seconds;
}

void Books::make_source(Value& value, Lock&) {
  if (value.is_source()) return;
  on_returned(value);
  doomed_.push_back(std::move(value.producer));
  if (value.place != nullptr) {
    for (const std::weak_ptr<Record>& weak : value.readers) {
      const RecordP reader = weak.lock();
      if (!reader) continue;
      for (Ref& ref : reader->refs) {
        if (ref.value.get() == &value && !ref.hold && !ref.is_scratch) ref.hold = storage_of(value);
      }
    }
  }
  if (!can_move(value)) remove_candidate(value);
}

c10::Storage Books::storage_of(const Value& value) const {
  if (value.place == nullptr) return value.temporary;
  return c10::Storage(value.place->weak.lock());
}

void Books::install(const ValueP& value, c10::Storage bytes, Lock& lock) {
  if (value->is_resident()) return;
  c10::Storage storage = keep_alive(*value, lock);
  if (value->place != nullptr) {
    Cell& cell = *value->place;
    put_bytes(*cell.impl, steal_bytes(*bytes.unsafeGetStorageImpl()));
    own_block(cell);
    discard(std::move(storage));
  } else {
    value->temporary = std::move(bytes);
  }
  value->residency = Residency::kResident;
  use(*value);
  on_returned(*value);
  add_candidate(*value);
}

c10::Storage Books::take_temporary(Value& value, Lock&) {
  remove_candidate(value);
  // Whoever frees the bytes waits for their copy; see on_block_freed().
  set_arriving(value, false);
  value.residency = Residency::kDropped;
  return std::move(value.temporary);
}

bool Books::can_drop(const Value& value) const {
  return rules.may_recompute && value.producer != nullptr;
}

bool Books::can_move(const Value& value) const { return rules.may_move && value.place != nullptr; }

bool Books::can_evict(const Value& value) const {
  if (!value.is_resident() || value.pins > 0 || is_used_quietly(value)) return false;
  if (is_used_opaquely(value)) return false;
  if (!can_drop(value) && !can_move(value)) return false;
  return value.place == nullptr || (value.place->holds == 0 && !value.place->weak.expired());
}

// Whether its block is ours to give back: torch may have replaced it, or other streams use it.
bool Books::owns_block(const Value& value) const {
  if (value.place == nullptr) return true;
  const auto block = device_.ledger().find_block(value.place->data);
  if (!block || block->owner != value.place || block->overflow != nullptr) return false;
  // Torch may have made it copy-on-write since it was claimed: then others read the bytes too, and
  // to take them would be to copy them, for which there is no memory.
  const c10::DataPtr& data = value.place->impl->_mutable_data_ptr_no_checks();
  if (!device_.is_gate_deleter(data.get_deleter())) return false;
  // An op that is not entered may have used it on its stream, and nobody has marked that.
  const bool may_be_shared = value.last_use < last_quiet_op_ && block->stream != quiet_stream_;
  return !block->shared_between_streams && !may_be_shared;
}

void Books::begin_opaque(Lock&) {
  if (opaque_parts_++ == 0) opaque_since_ = op_number;
}

void Books::end_opaque(Lock&) {
  LT_REQUIRE(opaque_parts_ > 0, "end_opaque() without begin_opaque()");
  --opaque_parts_;
}

bool Books::is_used_opaquely(const Value& value) const {
  return opaque_parts_ > 0 && last_use_of(value) >= opaque_since_;
}

void Books::begin_quiet_use(const QuietUse& use, Lock&) {
  quiet_uses_.push_back(&use);
  quiet_stream_ = use.stream;
}

void Books::end_quiet_use(const QuietUse& use, Lock&) {
  std::erase(quiet_uses_, &use);
  last_quiet_op_ = op_number;
}

bool Books::is_used_quietly(const Value& value) const {
  if (value.place == nullptr) return false;
  return std::any_of(quiet_uses_.begin(), quiet_uses_.end(), [&](const QuietUse* use) {
    return std::find(use->storages.begin(), use->storages.end(), value.place->impl) !=
           use->storages.end();
  });
}

// Of storages that the plan does not touch, ops that are not entered do not tell.
std::uint64_t Books::last_use_of(const Value& value) const {
  const bool is_followed = value.place != nullptr && value.place->guided_storage >= 0;
  return is_followed ? value.last_use : std::max(value.last_use, last_quiet_op_);
}

void Books::note_unseen(c10::StorageImpl* storage, Lock& lock) {
  // Steps are where they are tidied; but a thread may work on and on beside one.
  constexpr std::size_t kManyUnseen = std::size_t{1} << 14;
  unseen_.emplace_back(c10::intrusive_ptr<c10::StorageImpl>::reclaim_copy(storage));
  if (unseen_.size() > kManyUnseen + 2 * unseen_when_tidied_) tidy_unseen(lock);
}

void Books::tidy_unseen(Lock&) {
  std::unordered_set<const c10::StorageImpl*> seen;
  std::erase_if(unseen_, [&](const auto& weak) {
    return weak.expired() || !seen.insert(weak._unsafe_get_target()).second;
  });
  unseen_when_tidied_ = unseen_.size();
}

bool Books::see_unseen(Lock& lock) {
  if (unseen_.empty()) return false;
  std::vector<c10::weak_intrusive_ptr<c10::StorageImpl>> storages;
  storages.swap(unseen_);
  for (const auto& weak : storages) {
    c10::intrusive_ptr<c10::StorageImpl> alive = weak.lock();
    if (!alive) continue;
    if (!cells_.contains(alive.get())) make_cell(alive.get(), lock);
    discard(c10::Storage(std::move(alive)));
  }
  return true;
}

bool Books::evict_value(Value& value, Lock& lock) {
  if (!can_evict(value) || !owns_block(value)) return false;
  if (!witnesses.empty()) tell_of_choice(value);
  if (can_drop(value) && (!can_move(value) || dropping_is_cheaper(value))) {
    drop(value, lock);
    return true;
  }
  if (move_out(value, lock)) return true;
  if (!can_drop(value)) return false;
  drop(value, lock);
  return true;
}

bool Books::drop_value(Value& value, Lock& lock) {
  if (!can_evict(value) || !can_drop(value) || !owns_block(value)) return false;
  drop(value, lock);
  return true;
}

void Books::drop(Value& value, Lock& lock) {
  take_bytes_away(value, lock);
  ++counters.drops;
  moved_.free(value.copy);
  value.residency = Residency::kDropped;
  on_dropped(value);
  tell(ValueEvent::kDropped, value);
}

void Books::take_bytes_away(Value& value, Lock& lock) {
  remove_candidate(value);
  if (value.place == nullptr) {
    value.temporary = c10::Storage();
    return;
  }
  Cell& cell = *value.place;
  c10::Storage storage = keep_alive(value, lock);
  if (!storage) return;
  const auto block = device_.ledger().set_owner(cell.data, nullptr);
  // Whoever gets the memory next must not write it before it is copied.
  if (block && block->is_copied) finish_copy(cell.data, block->stream);
  set_leaving(value, false);
  set_arriving(value, false);
  cell.data = nullptr;
  const c10::DataPtr bytes = take_bytes(*cell.impl, &cell, &on_evicted_death);
  discard(std::move(storage));
}

void Books::on_block_freed(void* data, const engine::Block& block) noexcept {
  try {
    if (block.is_copied) device_.finish_copy(data, block.stream);
  } catch (const DeviceError&) {
    // A device that fails here does not copy any more either.
  }
  if (block.owner == nullptr) return;
  const std::lock_guard lock(dead_mutex_);
  dead_.push_back(static_cast<Cell*>(block.owner));
}

void Books::bury_dead(Lock& lock) {
  buried_.clear();
  {
    const std::lock_guard dead_lock(dead_mutex_);
    if (dead_.empty()) return;
    buried_.swap(dead_);
  }
  // A cell is listed twice when its bytes were replaced before it died.
  std::sort(buried_.begin(), buried_.end());
  buried_.erase(std::unique(buried_.begin(), buried_.end()), buried_.end());
  for (Cell* cell : buried_) {
    if (!cell->weak.expired()) continue;
    if (cell->value->pins > 0) {
      // It died inside an op that is still under way and will look at its cell.
      const std::lock_guard dead_lock(dead_mutex_);
      dead_.push_back(cell);
      continue;
    }
    if (observer != nullptr) observer->on_buried(*cell);
    detach_value(*cell, lock);
    forget_notices(*cell);
    cells_.erase(cell->impl);
  }
}

// Another thread may be freeing its block this very moment.
void Books::forget_notices(Cell& cell) {
  if (cell.data != nullptr) device_.ledger().clear_owner(cell.data, &cell);
  const std::lock_guard dead_lock(dead_mutex_);
  std::erase(dead_, &cell);
}

void Books::on_value_destroyed(Value& value) {
  set_leaving(value, false);
  set_arriving(value, false);
  remove_candidate(value);
  moved_.free(value.copy);
  on_returned(value);
  if (value.producer) doomed_.push_back(std::move(value.producer));
}

bool Books::step_aside(Lock& lock) {
  bury_dead(lock);
  const bool is_calm = std::all_of(cells_.begin(), cells_.end(), [](const auto& entry) {
    const Cell& cell = *entry.second;
    return cell.weak.expired() || (cell.value->is_resident() && cell.value->pins == 0);
  });
  if (!is_calm || !quiet_uses_.empty()) return false;
  device_.ledger().set_overflow(&device_.overflow());
  return true;
}

void Books::come_back(Lock& lock) {
  device_.ledger().set_overflow(nullptr);
  bury_dead(lock);
  // A new value for everything: neither a producer nor a copy of the old one tells of the new.
  for (auto& [impl, cell] : cells_) {
    if (cell->weak.expired()) continue;
    if (cell->value->pins == 0) {
      refresh(*cell, lock);
    } else {
      // An op that another thread began before we stepped aside is still under way.
      make_source(*cell->value, lock);
      cell->value->is_blank = false;
      cell->value->readers.clear();
      moved_.free(cell->value->copy);
    }
  }
}

std::vector<Cell*> Books::cells(Lock&) {
  std::vector<Cell*> all;
  all.reserve(cells_.size());
  for (auto& [impl, cell] : cells_) all.push_back(cell.get());
  return all;
}

}  // namespace lowtide::run
