// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include <algorithm>

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "base/random.h"
#include "lowtide/plan.h"
#include "support/random_trace.h"
#include "trace/gaps.h"
#include "trace/json.h"
#include "trace/lifetimes.h"
#include "trace/text.h"

// RapidCheck prints the seed of a failure; RC_PARAMS="seed=..." runs it again.

namespace lowtide {
namespace {

using trace::Lifetime;
using trace::Lifetimes;
using trace::Tick;

Trace any_trace() {
  const auto seed = *rc::gen::arbitrary<std::uint64_t>().as("seed of the trace");
  return support::random_trace(seed, *rc::gen::inRange(0, 41).as("ops"));
}

// The trace's order with some neighbours exchanged.
std::vector<OpId> any_order(const Trace& trace) {
  std::vector<OpId> order;
  for (std::size_t i = 0; i < trace.ops().size(); ++i) order.push_back(make_id<OpId>(i));
  base::Random random(*rc::gen::arbitrary<std::uint64_t>().as("seed of the order"));
  for (std::size_t i = 1; i < order.size(); ++i) {
    if (random.below(3) == 0) std::swap(order[i - 1], order[i]);
  }
  return order;
}

bool reads(const Op& op, ValueId value) {
  return std::any_of(op.reads.begin(), op.reads.end(),
                     [value](const Use& use) { return use.value == value; });
}

bool touches(const Trace& trace, const Op& op, StorageId storage) {
  const auto uses = [&](std::span<const Use> list) {
    return std::any_of(list.begin(), list.end(),
                       [&](const Use& use) { return trace.value(use.value).storage == storage; });
  };
  return uses(op.reads) || uses(op.writes) ||
         std::find(op.views.begin(), op.views.end(), storage) != op.views.end();
}

// The ticks at which a value is read; a Lifetime only points at them.
std::vector<Tick> reads_by_definition(const Trace& trace, const std::vector<OpId>& order,
                                      ValueId id) {
  std::vector<Tick> ticks;
  for (std::size_t i = 0; i < order.size(); ++i) {
    if (reads(trace.op(order[i]), id)) ticks.push_back(static_cast<Tick>(i));
  }
  return ticks;
}

// The definition in lifetimes.h, word by word and value by value, but for the reads.
Lifetime lifetime_by_definition(const Trace& trace, const std::vector<OpId>& order, ValueId id) {
  const auto end = static_cast<Tick>(order.size());
  const auto tick_of = [&order](OpId op) {
    return static_cast<Tick>(std::find(order.begin(), order.end(), op) - order.begin());
  };
  const Value& value = trace.value(id);
  const Storage& storage = trace.storage(value.storage);
  Lifetime life;
  life.born = value.is_source() ? -1 : tick_of(value.producer);
  for (const Value& next : trace.values()) {
    if (next.storage != value.storage || next.version != value.version + 1) continue;
    life.overwritten = true;
    life.dies = tick_of(next.producer);
  }
  if (life.overwritten) return life;
  life.at_end = storage.at_end;
  life.dies = storage.at_end ? end : tick_of(storage.freed_after);
  for (Tick tick = 0; tick < end; ++tick) {
    if (touches(trace, trace.op(order[static_cast<std::size_t>(tick)]), value.storage)) {
      life.dies = std::max(life.dies, tick);
    }
  }
  return life;
}

RC_GTEST_PROP(RandomTrace, IsTheSameForTheSameSeed, ()) {
  const auto seed = *rc::gen::arbitrary<std::uint64_t>();
  const int ops = *rc::gen::inRange(0, 41);
  const Trace trace = support::random_trace(seed, ops);
  RC_ASSERT(trace.ops().size() == static_cast<std::size_t>(ops));
  RC_ASSERT(trace::print_text(trace) == trace::print_text(support::random_trace(seed, ops)));
}

RC_GTEST_PROP(TraceText, ParsesBackToTheSameTrace, ()) {
  const Trace trace = any_trace();
  const std::string text = trace::print_text(trace);
  const Trace again = trace::parse_text(text);
  RC_ASSERT(trace::print_text(again) == text);
  RC_ASSERT(digest(again) == digest(trace));
}

RC_GTEST_PROP(TraceJson, ParsesBackToTheSameTrace, ()) {
  const Trace trace = any_trace();
  const std::string text = trace::print_json(trace);
  const Trace again = trace::parse_json(text);
  RC_ASSERT(trace::print_json(again) == text);
  RC_ASSERT(trace::print_text(again) == trace::print_text(trace));
  RC_ASSERT(digest(again) == digest(trace));
}

RC_GTEST_PROP(Lifetimes, AgreeWithTheirDefinition, ()) {
  const Trace trace = any_trace();
  const std::vector<OpId> order = any_order(trace);
  const Lifetimes lifetimes(trace, order);
  std::vector<int> deaths(trace.values().size(), 0);
  for (Tick tick = 0; tick <= lifetimes.end(); ++tick) {
    for (const ValueId value : lifetimes.deaths(tick)) {
      ++deaths[value.slot()];
      RC_ASSERT(lifetimes.of(value).dies == tick);
    }
  }
  for (std::size_t i = 0; i < trace.values().size(); ++i) {
    const Lifetime& found = lifetimes.of(make_id<ValueId>(i));
    const Lifetime wanted = lifetime_by_definition(trace, order, make_id<ValueId>(i));
    RC_ASSERT(found.born == wanted.born);
    RC_ASSERT(found.dies == wanted.dies);
    RC_ASSERT(found.overwritten == wanted.overwritten);
    RC_ASSERT(found.at_end == wanted.at_end);
    RC_ASSERT(std::vector<Tick>(found.reads.begin(), found.reads.end()) ==
              reads_by_definition(trace, order, make_id<ValueId>(i)));
    RC_ASSERT(deaths[i] == 1);
  }
}

RC_GTEST_PROP(Gaps, AreExactlyTheTicksAtWhichAValueLiesIdle, ()) {
  const Trace trace = any_trace();
  const Lifetimes lifetimes(trace);
  std::vector<std::vector<Tick>> idle(trace.values().size());
  for (const trace::Gap& gap : trace::gaps(trace, lifetimes)) {
    for (Tick tick = gap.from + 1; tick < gap.to; ++tick) idle[gap.value.slot()].push_back(tick);
  }
  for (std::size_t i = 0; i < trace.values().size(); ++i) {
    const Lifetime& life = lifetimes.of(make_id<ValueId>(i));
    std::vector<Tick> wanted;
    for (Tick tick = life.born + 1; tick < life.dies; ++tick) {
      if (std::find(life.reads.begin(), life.reads.end(), tick) == life.reads.end()) {
        wanted.push_back(tick);
      }
    }
    RC_ASSERT(idle[i] == wanted);
  }
}

}  // namespace
}  // namespace lowtide
