// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "cost/op_cost.h"
#include "lowtide/simulate.h"
#include "plan/schedule.h"
#include "sim/clocks.h"
#include "sim/device_memory.h"
#include "sim/links.h"
#include "sim/step_log.h"
#include "sim/traffic.h"
#include "sim/whereabouts.h"

namespace lowtide::sim {

using trace::Tick;

// One step under one plan, tick by tick as docs/plan-format.md has it. What it decides beyond that:
//
// - A move's copy starts when the op before it has ended and the host has issued it. Its device
// bytes
//   go when the copy to host memory ends. To a further tier it passes the tier's own link after
//   that, and lies in host memory until then.
// - A fetch starts when the device comes to its tick, the value has arrived in the tier and there
// is
//   room for it; until there is, its bytes are not taken. From a further tier it is read into host
//   memory first, which needs no room on the device, and lies there until it has come.
// - Copies that there are too many bytes on the way for wait for others of their direction, in the
//   order of the plan: a move until bytes have left, a fetch until what was fetched before is
//   waited for; but no longer than until its own value is waited for, or the step ends.
// - Whatever else needs room waits on the device. With no pending move left to wait for, it goes
//   over the budget.
// - Work for the host's processor starts when the device comes to its tick and its inputs have
// arrived.
//
// simulation.cpp has the ticks, simulation_ops.cpp the ops and their replays, simulation_copies.cpp
// what changes the place or form of a value.
class Simulation {
 public:
  // Throws InvalidInput for a plan that names what does not exist.
  Simulation(const Problem& problem, const Plan& plan, DeviceMemory memory);
  // Has run() write down what the timeline only has in sum. The log must outlive the simulation.
  void write_log(StepLog& log);
  // Call one of these, once. They throw InvalidInput when the plan uses a value that is not there.
  // Requires: the memory has a model of the allocator.
  Timeline run();
  // Timeline::seconds alone.
  double seconds();

 private:
  // How an op is carried out under the plan.
  struct Way {
    double seconds = 0;
    std::int64_t workspace_bytes = 0;
    bool is_on_host = false;
    bool reads_host = false;
  };
  // The last Run of a prelude that reads a value.
  struct LastReader {
    Tick tick = -1;
    std::int32_t position = 0;
  };
  // The encoded form of a value; its piece is empty while the form is in a tier.
  struct Encoded {
    const CodecOption* codec = nullptr;
    Piece piece;
  };

  void place_sources();
  TickUse run_tick(Tick tick);
  bool is_passed_over(Tick tick) const;
  void issue(Tick tick);
  void prelude(Tick tick);
  void release(Tick tick);
  void finish();
  // The action of this index, which is carried out now.
  const Action& take_action(std::int32_t index);

  void run_op(Tick tick, OpId id);
  void run_on_host(Tick tick, const Op& op, const Way& way);
  void replay(Tick tick, const Run& run, std::int32_t position);
  void find_last_readers(Tick tick);
  bool is_wanted(ValueId value, Tick tick, std::int32_t position) const;
  void let_go_after(const Op& op, Tick tick, std::int32_t position);
  // The value whose bytes this result takes over, or an id that is not valid.
  ValueId overwritten(ValueId result, Tick tick) const;
  void require_inputs(OpId id, const Way& way, bool is_replay);
  Way way_of(OpId id) const;

  void begin_or_wait(const Move& action, std::int32_t index);
  void begin_waiting_moves(bool all);
  void move(const Move& action);
  void begin_or_wait(const Fetch& action, std::int32_t index);
  void begin_waiting_fetches();
  void issue_fetch(const Fetch& action);
  void await_fetch(const Fetch& action, std::int32_t index);
  // An incoming value is there as soon as its copy has ended.
  void arrive(ValueId value);
  // A move of it that has not begun never will. False: there is none.
  bool keep_back(ValueId value);
  // Whether the copy from host memory to the device waits until the device needs the value.
  bool is_copied_on_arrival(const Whereabouts& where) const;
  // The device does nothing else until the copy has ended, if it copies by itself.
  void give_time_to(Links::CopyId copy, ValueId value);
  Links::CopyId find_room_for_fetch(ValueId value);
  void allocate_fetched(ValueId value);
  void encode(ValueId value, const CodecOption& codec);
  void decode(ValueId value);
  void finish_decoding(ValueId value);
  void drop(ValueId value);
  // Lets go of every form.
  void let_go(ValueId value);
  void enter_tier(ValueId value, TierId tier);
  void leave_tier(ValueId value);
  // Bytes that the value takes in a tier, in the form it has.
  std::int64_t tier_bytes(ValueId value) const;
  void change_tier_bytes(TierId tier, std::int64_t bytes);

  // Device work in two halves: what is allocated between them fits, if it can.
  void begin_work(double issue_seconds, std::int64_t bytes);
  void end_work(double seconds);
  // Does what follows from the copies that have ended by now.
  void catch_up();
  Links::CopyId add_copy(ValueId value, TierId tier, Links::Direction direction, std::int64_t bytes,
                         double start, std::initializer_list<Links::CopyId> after);
  // Takes host memory until the copy that was added last has ended.
  void stage_until_last_copy_ends(std::int64_t bytes);

  // A piece of device memory; those of no storage are an op's workspace.
  Piece allocate(std::int64_t bytes, StorageKind kind, StorageId storage);
  void free(Piece& piece);
  void log_work(Work::Kind kind, OpId op, double seconds);
  void log_copies();
  void allocate_raw(ValueId value);
  void free_raw(ValueId value);
  Piece take_raw(ValueId value);
  void forget_codec(ValueId value);

  std::int64_t raw_bytes(ValueId value) const { return device_bytes(at(value).bytes); }
  std::int64_t device_bytes(std::int64_t bytes) const;
  const CodecOption& codec_named(ValueId value, std::string_view name) const;
  Whereabouts& at(ValueId value) { return values_[value.slot()]; }
  const Whereabouts& at(ValueId value) const { return values_[value.slot()]; }
  // Throws InvalidInput unless the condition holds.
  void require(bool condition, std::string_view doing, ValueId value,
               std::string_view trouble) const;

  // What is to be done when a copy has ended.
  struct Note {
    ValueId value;
    bool frees_device = false;
    std::int64_t staging_bytes = 0;
  };

  const Trace& trace_;
  const Machine& machine_;
  const Plan& plan_;
  plan::Schedule schedule_;
  Timeline timeline_;
  Links links_;
  Clocks clocks_;
  DeviceMemory memory_;
  OpId op_;
  // By value.
  std::vector<Whereabouts> values_;
  // Of values that have a codec.
  std::unordered_map<ValueId, Encoded> encoded_;
  // Empty until something is replayed.
  std::vector<LastReader> last_readers_;
  // By tier.
  std::vector<std::int64_t> tier_bytes_;
  // Between the device and host memory.
  Traffic outwards_;
  Traffic inwards_;
  // By copy.
  std::vector<Note> notes_;
  // Null: nobody wants to know.
  StepLog* log_ = nullptr;
  std::optional<StayWriter> stays_;
};

// simulate(problem, plan).seconds in a good deal less time, for planners that compare plans.
double simulated_seconds(const Problem& problem, const Plan& plan);

}  // namespace lowtide::sim
