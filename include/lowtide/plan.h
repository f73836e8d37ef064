// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "lowtide/ids.h"
#include "lowtide/machine.h"
#include "lowtide/trace.h"

// A plan says what to do with the values of one trace so that the step fits a budget. It names
// positions by ops, never by times; docs/plan-format.md gives the exact meaning of every action,
// which checker, simulator and engine share.
//
// A tick is: fetches and decodes issued, fetches waited for, the prelude (Run and early Drop, in
// the order of the plan), the op, then releases, encodes and moves. The tick after the last op is
// the end of the step; it has no op, and its position is Trace::end().

namespace lowtide {

/// What is to be planned: a step, the machine it runs on and the bytes it may hold there.
struct Problem {
  std::shared_ptr<const Trace> trace;
  Machine machine;
  std::int64_t budget_bytes = 0;
  /// Whether lossy codecs and inexact implementations may be used.
  bool allow_lossy = false;
  /// If set, policies that search ask it now and then: true ends the search with the best so far.
  /// The plan then depends on when that was.
  std::function<bool()> should_stop{};

  bool is_stopped() const { return should_stop && should_stop(); }
};

/// Lets go of a value on the device: after an op, or in the prelude before it.
struct Drop {
  enum class Side : std::uint8_t { kAfter, kBefore };
  ValueId value;
  OpId op;
  Side side = Side::kAfter;
  friend bool operator==(const Drop&, const Drop&) = default;
};

/// Keeps a value on the device past its natural death, from the tick of op `from` until after op
/// `until`. It binds what is there in those ticks: a value that dies outside them is not kept.
struct Hold {
  ValueId value;
  OpId until;
  OpId from = OpId{0};
  friend bool operator==(const Hold&, const Hold&) = default;
};

/// Carries out an op once more, in the prelude before another op.
struct Run {
  OpId op;
  OpId before;
  friend bool operator==(const Run&, const Run&) = default;
};

/// Copies a value to a tier after an op and lets go of it on the device when the copy is done.
struct Move {
  ValueId value;
  TierId tier;
  OpId after;
  /// Name of one of the storage's codecs; empty for none.
  std::string codec;
  friend bool operator==(const Move&, const Move&) = default;
};

/// The copy of a moved value has ended in the tick of an op: its bytes have left the device. The
/// simulator finds out when that is, and the engine lets go of them there.
struct Departure {
  ValueId value;
  OpId op;
  friend bool operator==(const Departure&, const Departure&) = default;
};

/// Brings a moved value back: the copy starts before one op and is waited for before another.
struct Fetch {
  ValueId value;
  OpId issue_before;
  OpId needed_by;
  friend bool operator==(const Fetch&, const Fetch&) = default;
};

/// Replaces a value on the device by its encoded form.
struct Encode {
  ValueId value;
  std::string codec;
  OpId after;
  friend bool operator==(const Encode&, const Encode&) = default;
};

struct Decode {
  ValueId value;
  OpId before;
  friend bool operator==(const Decode&, const Decode&) = default;
};

/// Carries out an op in another of its implementations (index into Op::options).
struct Choose {
  OpId op;
  std::int32_t implementation = 0;
  friend bool operator==(const Choose&, const Choose&) = default;
};

/// Where a value lies on the device: in a pool, or at an offset of one fixed arena.
struct Place {
  ValueId value;
  std::optional<std::int32_t> pool;
  std::optional<std::int64_t> offset_bytes;
  friend bool operator==(const Place&, const Place&) = default;
};

/// Carries out the ops in another order. At most one to a plan.
struct Order {
  std::vector<OpId> sequence;
  friend bool operator==(const Order&, const Order&) = default;
};

using Action = std::variant<Drop, Hold, Run, Move, Fetch, Encode, Decode, Choose, Place, Order>;

/// A source that lies in a tier, not on the device, when the step begins. A plan is cyclic: a
/// storage that exists before and after the step must lie in the same place at its end.
struct StartsIn {
  StorageId storage;
  TierId tier;
  friend bool operator==(const StartsIn&, const StartsIn&) = default;
};

/// Which online policy takes over under pressure and in steps that leave the trace.
struct OnlineRule {
  std::string policy;
  std::map<std::string, std::string> options;
  friend bool operator==(const OnlineRule&, const OnlineRule&) = default;
};

struct Plan {
  std::string policy;
  /// digest(trace) of the trace it was made for.
  std::string trace_digest;
  std::int64_t budget_bytes = 0;
  std::vector<StartsIn> starts;
  std::vector<Action> actions;
  std::optional<OnlineRule> online;

  friend bool operator==(const Plan&, const Plan&) = default;
};

/// Sixteen hexadecimal digits that differ, for all practical purposes, between traces whose plans
/// are not interchangeable. Measured times do not count: a step measured again keeps its plans.
std::string digest(const Trace& trace);

/// One thing wrong with a plan.
struct Violation {
  enum class Kind : std::uint8_t {
    kWrongTrace,        // the digest is another trace's
    kUnknownName,       // an action names an op, value, tier, codec or implementation that is not
    kBadOrder,          // Order breaks a dependence or is no permutation
    kNotResident,       // something reads a value that is not on the device
    kEncoded,           // something reads a value that is there in encoded form only
    kStaleSource,       // a Run reads a source after the op that overwrote it
    kNotReplayable,     // Run of an op that may not be replayed
    kAlreadyPresent,    // Run or Fetch of what is there
    kNotPresent,        // Drop, Move, Encode or Decode of what is not there in that form
    kNotInTier,         // Fetch, or an op on the host, of what lies in no tier
    kPinned,            // eviction of a pinned storage
    kLost,              // a value alive at the end of the step is nowhere
    kNotCyclic,         // a storage ends elsewhere than it starts
    kOverBudget,        // the device holds more than the budget
    kOverTierCapacity,  // a tier holds more than its capacity
    kOverlap,           // two values placed at overlapping addresses at the same time
    kBadPosition,       // actions in an impossible order, such as a Fetch needed before its issue
    kLossy,             // a lossy codec or an inexact implementation
  };
  Kind kind;
  OpId op;
  ValueId value;
  std::string message;
};

std::string_view to_string(Violation::Kind kind);

struct Verdict {
  std::vector<Violation> violations;
  std::int64_t peak_bytes = 0;
  OpId peak_op;
  /// By tier.
  std::vector<std::int64_t> tier_peak_bytes;

  bool ok() const { return violations.empty(); }
};

/// Walks through the plan tick by tick and checks everything it promises: that each read finds its
/// value on the device, decoded and of the right version, that only what may be replayed is, that
/// nothing is lost, and that device and tiers stay within their bytes. Shares no code with planners
/// or simulator. Never throws for a bad plan; stops after 100 violations.
Verdict verify(const Problem& problem, const Plan& plan);

}  // namespace lowtide
