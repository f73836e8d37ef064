// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "policy/recompute/checkmate_program.h"

#include <algorithm>
#include <limits>

namespace lowtide::policy {

using trace::Tick;

namespace {

constexpr double kNoBound = std::numeric_limits<double>::infinity();

std::size_t slot(Tick tick) { return static_cast<std::size_t>(tick); }

}  // namespace

CheckmateProgram::CheckmateProgram(const Problem& problem, const cost::CostTable& costs)
    : problem_(problem),
      trace_(*problem.trace),
      lifetimes_(*trace_.lifetimes()),
      costs_(costs),
      leaves_(trace_.values().size(), false) {
  find_leaving();
  staying_.emplace(trace_, lifetimes_, costs, leaves_, std::vector<plan::ExtendedLife>{});
  find_windows();
}

void CheckmateProgram::find_leaving() {
  for (std::size_t i = 0; i < trace_.ops().size(); ++i) {
    const auto op = make_id<OpId>(i);
    if (!trace_.is_replayable(op)) continue;
    for (const Use& write : trace_.writes(op)) {
      leaves_[write.value.slot()] = !write.side_effect && !trace_.storage_of(write.value).pinned;
    }
  }
}

Tick CheckmateProgram::last_need(ValueId value) const {
  const trace::Lifetime& life = lifetimes_.of(value);
  return life.at_end ? lifetimes_.end() : life.last_read();
}

void CheckmateProgram::find_windows() {
  useful_until_.assign(leaves_.size(), -1);
  certain_until_.assign(leaves_.size(), -1);
  for (std::size_t i = 0; i < leaves_.size(); ++i) {
    const auto value = make_id<ValueId>(i);
    useful_until_[i] = last_need(value);
    certain_until_[i] = leaves_[i] ? lifetimes_.of(value).born : lifetimes_.of(value).dies;
  }
  for (Tick tick = lifetimes_.end(); tick-- > 0;) {
    const OpId op = lifetimes_.op_at(tick);
    Tick until = -1;
    for (const Use& write : trace_.writes(op)) {
      if (leaves_[write.value.slot()]) until = std::max(until, useful_until_[write.value.slot()]);
    }
    for (const Use& read : trace_.reads(op)) {
      Tick& useful = useful_until_[read.value.slot()];
      if (!read.side_effect) useful = std::max(useful, until);
    }
  }
  for (std::size_t i = 0; i < leaves_.size(); ++i) {
    choices_ += static_cast<std::size_t>(std::max(0, useful_until_[i] - certain_until_[i]));
  }
}

bool CheckmateProgram::can_replay(OpId op, Tick tick) const {
  const auto writes = trace_.writes(op);
  return std::any_of(writes.begin(), writes.end(), [&](const Use& write) {
    return leaves_[write.value.slot()] && useful_until_[write.value.slot()] >= tick;
  });
}

double CheckmateProgram::units(std::int64_t bytes) const {
  return static_cast<double>(bytes) /
         static_cast<double>(std::max<std::int64_t>(1, problem_.budget_bytes));
}

CheckmateProgram::Column CheckmateProgram::add_column(double cost, double upper, bool is_whole,
                                                      double start) {
  start_.push_back(start);
  return program_.add_column(cost, 0, upper, is_whole);
}

CheckmateProgram::Quantity CheckmateProgram::keep(Tick tick, ValueId value) const {
  const Tick certain = certain_until_[value.slot()];
  if (tick <= certain || tick > useful_until_[value.slot()]) return {};
  return {first_keep_[value.slot()] + (tick - certain - 1), 0};
}

CheckmateProgram::Quantity CheckmateProgram::replay(OpId op) const {
  return op.valid() ? Quantity{replays_[op.slot()], 0} : Quantity{};
}

void CheckmateProgram::put(Terms& terms, double& number, const Quantity& quantity, double factor) {
  if (quantity.column == kNoColumn) {
    number += factor * quantity.number;
  } else {
    terms.push_back({quantity.column, factor});
  }
}

void CheckmateProgram::require_at_most_zero(std::vector<std::pair<Quantity, double>> sum) {
  Terms terms;
  double number = 0;
  for (const auto& [quantity, factor] : sum) put(terms, number, quantity, factor);
  program_.at_most(-number, std::move(terms));
}

void CheckmateProgram::build(Goal goal) {
  program_ = {};
  start_.clear();
  peak_ = kNoColumn;
  if (goal == Goal::kSmallestPeak) peak_ = add_column(1, kNoBound, false, 0);
  add_keeps();
  for (Tick tick = 0; tick <= lifetimes_.end(); ++tick) add_tick(tick);
}

// In the plain step a value stays until it is needed for the last time, and nothing is held.
void CheckmateProgram::add_keeps() {
  first_keep_.assign(leaves_.size(), kNoColumn);
  for (std::size_t i = 0; i < leaves_.size(); ++i) {
    first_keep_[i] = static_cast<Column>(program_.columns());
    for (Tick tick = certain_until_[i] + 1; tick <= useful_until_[i]; ++tick) {
      const bool is_plain = leaves_[i] && tick <= last_need(make_id<ValueId>(i));
      add_column(0, 1, !is_relaxed_, is_plain ? 1 : 0);
    }
  }
}

void CheckmateProgram::add_tick(Tick tick) {
  add_replays(tick);
  add_needs(tick);
  add_moments(tick);
}

void CheckmateProgram::add_replays(Tick tick) {
  replays_.assign(trace_.ops().size(), kNoColumn);
  replayed_.clear();
  const double total = std::max(costs_.total_seconds, 1e-12);
  for (Tick earlier = 0; earlier < tick; ++earlier) {
    const OpId op = lifetimes_.op_at(earlier);
    if (!can_replay(op, tick)) continue;
    const double cost = peak_ == kNoColumn ? costs_.op(op) / total : 0;
    replays_[op.slot()] = add_column(cost, 1, false, 0);
    replayed_.push_back(op);
  }
}

void CheckmateProgram::add_needs(Tick tick) {
  needs_.clear();
  for (std::size_t i = 0; i < leaves_.size(); ++i) {
    if (certain_until_[i] < tick && tick <= useful_until_[i])
      add_needs_of(tick, make_id<ValueId>(i));
  }
}

// N, and what ties it to S and R.
void CheckmateProgram::add_needs_of(Tick tick, ValueId value) {
  const trace::Lifetime& life = lifetimes_.of(value);
  const bool is_read = std::binary_search(life.reads.begin(), life.reads.end(), tick) ||
                       (life.at_end && tick == lifetimes_.end());
  const Quantity after = is_read ? Quantity{kNoColumn, 1} : keep(tick + 1, value);
  Needs needs;
  for (const Tick read : life.reads) {
    const OpId reader = lifetimes_.op_at(read);
    if (read >= tick || replays_[reader.slot()] == kNoColumn) continue;
    const auto uses = trace_.reads(reader);
    const bool is_input = std::any_of(uses.begin(), uses.end(), [&](const Use& use) {
      return use.value == value && !use.side_effect;
    });
    if (!is_input) continue;
    const Quantity need{add_column(0, 1, false, start_of(after)), 0};
    require_at_most_zero({{replay(reader), 1}, {need, -1}});
    if (!needs.empty()) require_at_most_zero({{need, 1}, {needs.back(), -1}});
    needs.push_back(need);
  }
  if (!needs.empty()) require_at_most_zero({{after, 1}, {needs.back(), -1}});
  needs.push_back(after);
  const Quantity made = leaves_[value.slot()] ? replay(trace_.value(value).producer) : Quantity{};
  require_at_most_zero({{needs.front(), 1}, {keep(tick, value), -1}, {made, -1}});
  require_at_most_zero({{keep(tick, value), 1}, {needs.front(), -1}});
  needs_[value] = std::move(needs);
}

double CheckmateProgram::start_of(const Quantity& quantity) const {
  return quantity.column == kNoColumn ? quantity.number
                                      : start_[static_cast<std::size_t>(quantity.column)];
}

void CheckmateProgram::limit(const Terms& terms, double number) {
  Terms all = terms;
  if (peak_ == kNoColumn) {
    // Of a small budget it is less than a byte.
    const double share = static_cast<double>(problem_.budget_bytes) * solve::kRowTolerance;
    const double slack = share < 1 ? 0 : solve::kRowTolerance;
    program_.at_most(room_ - slack - number, std::move(all));
    return;
  }
  all.push_back({peak_, -1});
  program_.at_most(-number, std::move(all));
}

// The bytes at each replay: what is there, and its results and workspace besides.
void CheckmateProgram::add_moments(Tick tick) {
  // What is there before the first replay, as a column of its own: the later ones differ from it.
  Terms sum;
  double number = units(staying_->before[slot(tick)]);
  double start = number;
  for (const auto& [value, needs] : needs_) {
    put(sum, number, keep(tick, value), units(costs_.value(value)));
    start += units(costs_.value(value)) * start_of(keep(tick, value));
  }
  Quantity there{add_column(0, kNoBound, false, start), 0};
  sum.push_back({there.column, -1});
  program_.add_row(-number, -number, sum);
  // By value: how many of its readers the prelude has come past.
  std::map<ValueId, std::size_t> passed;
  for (const OpId op : replayed_) {
    std::int64_t extra = costs_.workspace(op);
    for (const Use& write : trace_.writes(op)) extra += costs_.value(write.value);
    limit({{there.column, 1}, {replay(op).column, units(extra)}}, 0);
    Terms change;
    double known = 0;
    for (const Use& write : trace_.writes(op)) {
      const auto needs = needs_.find(write.value);
      if (write.side_effect || needs == needs_.end()) continue;
      put(change, known, needs->second.front(), units(costs_.value(write.value)));
      put(change, known, keep(tick, write.value), -units(costs_.value(write.value)));
    }
    for (const Use& read : trace_.reads(op)) {
      const auto needs = needs_.find(read.value);
      if (read.side_effect || needs == needs_.end()) continue;
      const std::size_t reader = passed[read.value]++;
      put(change, known, needs->second[reader + 1], units(costs_.value(read.value)));
      put(change, known, needs->second[reader], -units(costs_.value(read.value)));
    }
    // In the plain step nothing changes here: what is needed later is needed by the op.
    const Quantity next{add_column(0, kNoBound, false, start), 0};
    change.push_back({there.column, 1});
    change.push_back({next.column, -1});
    program_.add_row(-known, -known, change);
    there = next;
  }
  if (tick < lifetimes_.end()) {
    add_op_moment(tick, there);
  } else {
    limit({{there.column, 1}}, 0);
  }
}

void CheckmateProgram::add_op_moment(Tick tick, Quantity there) {
  const OpId op = lifetimes_.op_at(tick);
  Terms terms{{there.column, 1}};
  double number =
      units(staying_->during[slot(tick)] - staying_->before[slot(tick)] + costs_.workspace(op));
  for (const Use& write : trace_.writes(op)) {
    if (leaves_[write.value.slot()]) number += units(costs_.value(write.value));
  }
  for (const ValueId dead : lifetimes_.deaths(tick)) {
    if (!lifetimes_.of(dead).overwritten) continue;
    const auto& reads = lifetimes_.of(dead).reads;
    const bool is_read = !reads.empty() && reads.back() == tick;
    if (leaves_[dead.slot()] && !is_read) continue;
    // The result takes its bytes over, unless it stays for replays; the bytes of what does not
    // leave are counted so already.
    if (leaves_[dead.slot()]) number -= units(costs_.value(dead));
    put(terms, number, keep(tick + 1, dead), units(costs_.value(dead)));
  }
  limit(terms, number);
  if (peak_ == kNoColumn) return;
  double& peak = start_[static_cast<std::size_t>(peak_)];
  peak = std::max(peak, start_[static_cast<std::size_t>(there.column)] + number);
}

std::optional<StayDecisions> CheckmateProgram::solve(Goal goal, solve::MilpOptions options) {
  build(goal);
  if (goal == Goal::kSmallestPeak) options.start = start_;
  const solve::MilpAnswer answer = solve::solve_milp(program_, options);
  if (!answer.has_solution()) return std::nullopt;
  return decisions(answer.values);
}

std::optional<StayDecisions> CheckmateProgram::solve_rounded(double room,
                                                             solve::MilpOptions options) {
  is_relaxed_ = true;
  room_ = room;
  auto decisions = solve(Goal::kFewestSeconds, std::move(options));
  is_relaxed_ = false;
  room_ = 1;
  return decisions;
}

StayDecisions CheckmateProgram::decisions(const std::vector<double>& values) const {
  StayDecisions decisions;
  decisions.leaves = leaves_;
  for (std::size_t i = 0; i < leaves_.size(); ++i) {
    const auto value = make_id<ValueId>(i);
    for (Tick tick = certain_until_[i] + 1; tick <= useful_until_[i]; ++tick) {
      const bool is_kept = values[static_cast<std::size_t>(keep(tick, value).column)] > 0.5;
      // It is there when the tick begins, so it is from the one before on.
      if (is_kept) decisions.stays.push_back({value, tick - 1, tick});
    }
  }
  return decisions;
}

}  // namespace lowtide::policy
