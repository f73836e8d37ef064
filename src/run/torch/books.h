// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <deque>
#include <limits>
#include <memory_resource>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/random.h"
#include "plan/online_deed.h"
#include "run/engine/device.h"
#include "run/engine/evictor.h"
#include "run/engine/host_cache.h"
#include "run/engine/stalls.h"
#include "run/torch/value.h"
#include "solve/union_find.h"

namespace lowtide::run {

// What may be done with values, and when.
struct Rules {
  bool may_recompute = true;
  bool may_move = true;
  std::int64_t floor_bytes = 0;
  bool evict_everything = false;
  // Ops are recorded: what they made may be dropped. Else nothing is expected to go, and sources
  // that only records would keep take no memory. In a step that is captured they are, all the same.
  bool keeps_records = true;
  // Of copies that plans want, in each direction.
  std::int64_t most_bytes_in_flight = std::numeric_limits<std::int64_t>::max();
};

// What was done so far. Guarded by the books' lock.
struct Counters {
  std::int64_t steps = 0;
  std::int64_t ops = 0;
  std::int64_t drops = 0;
  std::int64_t moves = 0;
  std::int64_t recomputes = 0;
  double recompute_seconds = 0;
  std::int64_t bytes_to_host = 0;
  std::int64_t bytes_from_host = 0;
  // Moved values that could not be read and were computed again.
  std::int64_t copies_lost = 0;
  std::int64_t kept_unsafe = 0;
  std::int64_t chunked_ops = 0;
  // Blocks that were moved on the device.
  std::int64_t relocations = 0;
};

// The storages that one op uses without being entered in the books.
struct QuietUse {
  c10::SmallVector<c10::StorageImpl*, 6> storages;
  void* stream = nullptr;
};

// Told when a storage has left the books, under their lock.
class BurialObserver {
 public:
  virtual ~BurialObserver() = default;
  virtual void on_buried(const Cell& cell) = 0;
};

// What can happen to a value's bytes.
enum class ValueEvent : std::uint8_t {
  // An op needs them and they are away: what comes back from here on does so for it.
  kWanted,
  // A copy to the host was begun; they go when room is needed.
  kLeaves,
  // They go now, whether or not they were to leave.
  kGoesToHost,
  kDropped,
  kFetched,
  kReplayed,
};

// Told of all of that, under the books' lock.
class Witness {
 public:
  virtual ~Witness() = default;
  virtual void on_event(ValueEvent event, const Value& value) = 0;
  // The online rule is about to evict the value, for what it takes that to cost.
  virtual void on_choice(const Value& value, const plan::EvictionPrice& price) = 0;
};

// The books of one device: every storage the ops have touched, what it holds, and where that lies.
// Evicts when the ledger asks. One lock guards all of it; it is never held while a kernel runs or
// memory is allocated.
//
// Note [Who frees]: a storage may die on any thread at any time, also while we hold the lock. So
// its block's deleter only puts the cell on a list (on_block_freed), and the next call buries the
// dead.
class Books final : public engine::Evictor {
 public:
  Books(engine::Device& device, c10::Device torch_device);
  ~Books() override;

  // The books' lock. When it is released, records that nobody needs are destroyed, one after
  // another and not one inside the other; and after that, what must not be destroyed under the
  // lock.
  class Lock {
   public:
    explicit Lock(Books& books) : books_(books), lock_(books.mutex_) {}
    ~Lock();
    Lock(const Lock&) = delete;
    Lock& operator=(const Lock&) = delete;

   private:
    Books& books_;
    std::unique_lock<std::mutex> lock_;
  };

  // --- Everything below needs the lock, which is passed to show it. ---

  // The cell of a tensor's storage, made if need be; null if the storage is none of ours.
  Cell* find_cell(const at::Tensor& tensor, Lock& lock);
  Cell* find_cell(const c10::Storage& storage, Lock& lock);
  // The same, but null also if the books know the storage already.
  Cell* add_cell(const at::Tensor& tensor, Lock& lock);
  // Whether the tensor's storage is, or could be, in the books, and its bytes are on the device.
  bool can_manage(const at::Tensor& tensor, Lock& lock) const;
  // The value will not be what was copied to the host.
  void forget_copy(Value& value, Lock& lock);
  // Whether an op that is under way has the tensor among its arguments, or has made it and not
  // given it out yet: until that op ends, its bytes stay where they are.
  bool is_in_use(const at::Tensor& tensor, Lock& lock) const;
  // The cell of a storage that is alive and in the books; null otherwise.
  Cell* known_cell(const c10::weak_intrusive_ptr<c10::StorageImpl>& storage) const;
  // A record for an op; it is not in the books yet.
  RecordP new_record(const c10::OperatorHandle& op);
  // The storage was written: what it holds from now on. The old value becomes a ghost.
  ValueP renew(Cell& cell, RecordP producer, Lock& lock);
  // The value is what an op just returned.
  void set_producer(Value& value, RecordP producer);
  // Something was issued to the device: an op, a replay, a fetch. What is used from here on is used
  // after it.
  void advance() { device_.tick(++op_number); }
  // The value was used just now.
  void use(Value& value);
  // An op issued to this stream uses the storage.
  void use_on_stream(Cell& cell, void* stream);
  // No op may make it again from here on; whoever reads it in a replay keeps its storage alive.
  void make_source(Value& value, Lock& lock);

  // Copies the value to the host beside what is computed; its bytes go when room is needed, before
  // anything else does. False: it stays.
  bool start_move(const ValueP& value, Lock& lock);
  // The bytes of a moved value come from the host beside what is computed. From a file they come to
  // the host first, which is waited for. Throws IoError if they cannot be read, OutOfMemory if
  // there is no host memory for them.
  void start_fetch(const ValueP& value, c10::Storage bytes, Lock& lock);
  // A moved value whose copy cannot be had will be computed again. False: nobody can do that.
  bool give_up_copy(Value& value, Lock& lock);
  // Lets go of its bytes. False: it is not on its way out, or must stay.
  bool finish_move(Value& value, Lock& lock);
  // Forgets what is not on its way out any more: a plan that leaves room enough would add to the
  // list in every step and never take from it.
  void tidy_leaving(Lock& lock);
  // Work issued from here on may use the value's bytes.
  void arrive(Value& value);

  // An op that is not entered in the books (see QuietCall) uses these storages from now on, on
  // this stream, until end_quiet_use(): they stay.
  void begin_quiet_use(const QuietUse& use, Lock& lock);
  void end_quiet_use(const QuietUse& use, Lock& lock);
  // Such an op made the storage, or one that was let pass; it may have to go when nothing else is
  // left.
  void note_unseen(c10::StorageImpl* storage, Lock& lock);
  // Forgets those that are no more.
  void tidy_unseen(Lock& lock);

  // Code that goes around the dispatcher runs from here to the end: what ops use meanwhile stays
  // where it is, since that code may have its address. Such parts may overlap.
  void begin_opaque(Lock& lock);
  void end_opaque(Lock& lock);

  // Gives a live or ghost value its bytes.
  void install(const ValueP& value, c10::Storage bytes, Lock& lock);
  // Takes a ghost's bytes, if it has any.
  c10::Storage take_temporary(Value& value, Lock& lock);
  // The storage of a resident value; null if it has just died.
  c10::Storage storage_of(const Value& value) const;
  // The same; but a value whose storage has died becomes a ghost without bytes.
  c10::Storage keep_alive(Value& value, Lock& lock);

  bool can_drop(const Value& value) const;
  bool can_move(const Value& value) const;
  bool can_evict(const Value& value) const;
  bool owns_block(const Value& value) const;
  // Drops it or moves it to the host, as the rules allow. False: it stays.
  bool evict_value(Value& value, Lock& lock);
  bool drop_value(Value& value, Lock& lock);

  // Removes the storages that died from the books.
  void bury_dead(Lock& lock);

  // The ops pass us by for a while. False: something is away or in use, so they must not.
  bool step_aside(Lock& lock);
  // The ops are seen again. What they did meanwhile to what is in the books, nobody knows.
  void come_back(Lock& lock);

  // The value's bytes stay after all. False: they were not leaving.
  bool keep_leaving(Value& value);
  // Of values whose copies a plan began: until the bytes go, and until an op uses them. A copy may
  // end earlier; but when, differs from step to step, and steps that are alike should do alike.
  std::int64_t leaving_bytes() const { return leaving_bytes_; }
  std::int64_t arriving_bytes() const { return arriving_bytes_; }

  // Other rules from here on.
  void set_rules(const Rules& new_rules, Lock& lock);
  // As new. Requires: everything is resident and nothing is under way.
  void forget_all(Lock& lock);

  std::vector<Cell*> cells(Lock& lock);
  std::string largest_holders(Lock& lock) const;
  // A sentence, if it is most of what is held.
  std::string describe_outside(Lock& lock) const;
  std::vector<const Value*> resident_values(Lock& lock) const;
  // Bytes of storages that only records keep alive.
  std::int64_t record_held_bytes(const Lock& lock) const;
  // Lets go of those for which nothing has to be computed again: what was computed from them are
  // sources from then on. Their bytes are free when the lock is released. False: there were none.
  bool give_up_records(Lock& lock);
  // Something is being brought back from here on, until it is: it may need what records hold.
  void begin_restoring(Lock&) { ++restorations_; }
  void end_restoring(Lock&) { --restorations_; }

  // --- Without the lock. ---
  std::int64_t evict(std::int64_t bytes, std::int64_t request_bytes) override;
  bool move_together(engine::MovableBlocks& blocks) override;
  void on_block_freed(void* data, const engine::Block& block) noexcept override;
  std::string describe_shortage(std::int64_t asked_bytes) override;

  engine::Device& device() { return device_; }
  // Where moved values lie. Needs the lock.
  engine::HostCache& moved(Lock&) { return moved_; }
  c10::Device torch_device() const { return torch_device_; }

  Rules rules;
  Counters counters;
  // Seconds of work done so far: the clock by which values grow stale.
  double clock_seconds = 0;
  double step_start_seconds = 0;
  std::uint64_t op_number = 0;
  std::uint64_t step_number = 1;
  std::int64_t records_alive = 0;
  BurialObserver* observer = nullptr;
  // Times what waits for a plan's fetches; null: nothing does.
  engine::Stalls* stalls = nullptr;
  std::vector<Witness*> witnesses;
  void tell(ValueEvent event, const Value& value) const {
    for (Witness* witness : witnesses) witness->on_event(event, value);
  }
  // The storage goes once the lock is released: it may belong to a Python object, whose destruction
  // takes another lock.
  void discard(c10::Storage storage) { discarded_.push_back(std::move(storage)); }
  // Starts the classes of dropped values anew if there are none.
  void forget_classes();
  // Draws the same samples of candidates again: steps that are alike should evict alike, so that
  // memory is laid out alike.
  void begin_sampling();

 private:
  friend struct Value;
  friend struct Record;

  bool is_ours(const at::Tensor& tensor) const;
  Cell* make_cell(c10::StorageImpl* impl, Lock& lock);
  bool claim_block(c10::StorageImpl* impl);
  void refresh(Cell& cell, Lock& lock);
  void own_block(Cell& cell);
  void move_from_overflow(Cell& cell, Lock& lock);
  void detach_value(Cell& cell, Lock& lock);
  void abandon(Cell& cell, Lock& lock);
  void forget_notices(Cell& cell);
  void on_value_destroyed(Value& value);
  void destroy_doomed();

  bool is_held_by_records(const Cell& cell, const Lock& lock) const;
  bool give_up_held(const Cell& cell, Lock& lock);

  std::int64_t evict_values(std::int64_t bytes, std::int64_t request_bytes);
  void add_candidate(Value& value);
  void remove_candidate(Value& value);
  Value* best_victim(std::int64_t request_bytes, Lock& lock);
  double score(Value& value);
  double eviction_seconds(Value& value);
  double drop_seconds(const Value& value);
  double move_seconds(const Value& value) const;
  bool dropping_is_cheaper(const Value& value);
  void tell_of_choice(const Value& value);

  void drop(Value& value, Lock& lock);
  bool move_out(Value& value, Lock& lock);
  bool copy_to_host(Value& value);
  void finish_copy(void* data, void* stream);
  void set_leaving(Value& value, bool is_leaving);
  void set_arriving(Value& value, bool is_arriving);
  std::int64_t evict_leaving(std::int64_t bytes, Lock& lock);
  void take_bytes_away(Value& value, Lock& lock);
  bool is_used_quietly(const Value& value) const;
  bool is_used_opaquely(const Value& value) const;
  // Null: it has none that could let go of it now.
  Cell* owner_of(void* data) const;
  bool may_relocate(const Value& value) const;
  bool relocate(const engine::BlockMove& move, const c10::Storage& storage, Lock& lock);
  std::uint64_t last_use_of(const Value& value) const;
  // False: there was none.
  bool see_unseen(Lock& lock);
  bool reconsider_refused(Lock& lock);

  void on_dropped(Value& value);
  void on_returned(Value& value);
  void on_released(Value& value);
  template <class Visit>
  void for_each_dropped_neighbour(const Value& value, const Visit& visit) const;

  ValueP new_value();

  engine::Device& device_;
  c10::Device torch_device_;
  std::mutex mutex_;
  engine::HostCache moved_;
  // Records and values come and go by the thousand in every step: their memory is kept.
  std::pmr::synchronized_pool_resource pool_;
  std::unordered_map<c10::StorageImpl*, std::unique_ptr<Cell>> cells_;
  // Resident values of at least the floor's size, in no order; some may be pinned.
  std::vector<Value*> candidates_;
  // Those of start_move(), the first ones first; some may have gone or come back since.
  std::deque<std::weak_ptr<Value>> leaving_;
  std::int64_t leaving_bytes_ = 0;
  std::int64_t arriving_bytes_ = 0;
  // Ops under way that are not entered, what they made, and the last of them.
  std::vector<const QuietUse*> quiet_uses_;
  std::vector<c10::weak_intrusive_ptr<c10::StorageImpl>> unseen_;
  std::size_t unseen_when_tidied_ = 0;
  std::uint64_t last_quiet_op_ = 0;
  // Parts of the program that are opaque now, and the op at which the first of them began.
  std::int64_t opaque_parts_ = 0;
  std::uint64_t opaque_since_ = 0;
  void* quiet_stream_ = nullptr;
  // Under way.
  int restorations_ = 0;
  base::Random random_{1};
  solve::WeightedUnionFind classes_;
  std::int64_t dropped_values_ = 0;
  std::vector<std::int32_t> classes_seen_;

  // Waiting for the lock to be released.
  std::vector<c10::Storage> discarded_;
  std::vector<RecordP> doomed_;

  std::mutex dead_mutex_;
  std::vector<Cell*> dead_;
  // Used by bury_dead(), kept for its memory.
  std::vector<Cell*> buried_;
};

}  // namespace lowtide::run
