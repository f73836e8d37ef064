// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "cost/op_cost.h"
#include "lowtide/plan.h"
#include "policy/recompute/staying_bytes.h"
#include "policy/stay_writer.h"
#include "solve/milp.h"
#include "trace/lifetimes.h"

namespace lowtide::policy {

// Checkmate's integer programme for one step, with ticks as its stages. Its unknowns, for tick t:
//   S(t, v)     value v is there when the tick begins (whole)
//   R(t, i)     op i is replayed in the prelude
//   N(t, v, m)  v is needed by its m-th reader among those replays or by anything after it
//   U(t, i)     the bytes that are there when the prelude comes to op i
// With S <= N(first) nothing is kept that goes unused, so that all but S can be fractions: the
// least R and N for given S are whole. N takes the place of the paper's FREE.
//
// What a replay makes again can leave at any time. Everything else has its natural life, and S says
// for how long after that it is held for the sake of replays.
class CheckmateProgram {
 public:
  enum class Goal : std::uint8_t { kFewestSeconds, kSmallestPeak };

  CheckmateProgram(const Problem& problem, const cost::CostTable& costs);

  // How many yes-or-no questions it has.
  std::size_t choices() const { return choices_; }
  // What to keep when; nothing if no answer was found.
  std::optional<StayDecisions> solve(Goal goal, solve::MilpOptions options);
  // The same from fractions, rounded: they take at most `room` of the budget, what they are rounded
  // to may take more.
  std::optional<StayDecisions> solve_rounded(double room, solve::MilpOptions options);

 private:
  using Column = solve::LinearProgram::Column;
  using Terms = std::vector<solve::LinearProgram::Term>;
  static constexpr Column kNoColumn = -1;
  // A column, or a number where it is known.
  struct Quantity {
    Column column = kNoColumn;
    double number = 0;
  };
  // Of one value in one tick: the unknowns N, then what follows the prelude.
  using Needs = std::vector<Quantity>;

  void find_leaving();
  void find_windows();
  // The last tick that needs it for itself: the end of the step, if it outlives that.
  trace::Tick last_need(ValueId value) const;
  bool can_replay(OpId op, trace::Tick tick) const;
  Column add_column(double cost, double upper, bool is_whole, double start);
  // The sum of the terms is to be at least (or to be) a number, quantities that are numbers
  // counted.
  static void put(Terms& terms, double& number, const Quantity& quantity, double factor);
  void require_at_most_zero(std::vector<std::pair<Quantity, double>> sum);

  void build(Goal goal);
  void add_keeps();
  void add_tick(trace::Tick tick);
  void add_replays(trace::Tick tick);
  void add_needs(trace::Tick tick);
  void add_moments(trace::Tick tick);
  void add_op_moment(trace::Tick tick, Quantity there);
  double start_of(const Quantity& quantity) const;
  void limit(const Terms& terms, double number);
  Quantity keep(trace::Tick tick, ValueId value) const;
  Quantity replay(OpId op) const;
  void add_needs_of(trace::Tick tick, ValueId value);
  double units(std::int64_t bytes) const;
  StayDecisions decisions(const std::vector<double>& values) const;

  const Problem& problem_;
  const Trace& trace_;
  const trace::Lifetimes& lifetimes_;
  const cost::CostTable& costs_;
  std::vector<bool> leaves_;
  std::optional<StayingBytes> staying_;
  // By value: the last tick that needs it or something computed from it, and the last one in which
  // it is there for certain. Between the two there is a choice.
  std::vector<trace::Tick> useful_until_;
  std::vector<trace::Tick> certain_until_;
  std::size_t choices_ = 0;
  // Whether S may be a fraction too, and the share of the budget that may be taken.
  bool is_relaxed_ = false;
  double room_ = 1;

  solve::LinearProgram program_;
  // The plain step as an answer, by column.
  std::vector<double> start_;
  Column peak_ = kNoColumn;
  // By value: the column of S in the first tick of its choice; the others follow.
  std::vector<Column> first_keep_;
  // Of the tick that is being added: the columns of R by op, and N by value.
  std::vector<Column> replays_;
  std::map<ValueId, Needs> needs_;
  std::vector<OpId> replayed_;
};

}  // namespace lowtide::policy
