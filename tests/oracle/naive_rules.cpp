// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "naive_rules.h"

#include <algorithm>
#include <set>
#include <string>

#include "lowtide/errors.h"

namespace lowtide::oracle {
namespace {

void require(bool condition, const std::string& fault) {
  if (!condition) throw InvalidInput(fault);
}

class Words {
 public:
  explicit Words(const Problem& problem) : problem_(problem), trace_(*problem.trace) {}

  void check(const StartsIn& a) {
    require(a.storage.valid() && a.storage.slot() < trace_.storages().size(), "unknown storage");
    tier(a.tier);
    const Storage& storage = trace_.storage(a.storage);
    require(storage.at_start && !storage.pinned, "the storage cannot start in a tier");
    require(started_.insert(a.storage).second, "a storage starts twice");
  }
  void check(const Drop& a) {
    value(a.value);
    a.side == Drop::Side::kBefore ? position(a.op) : op(a.op);
  }
  void check(const Hold& a) {
    value(a.value);
    position(a.from);
    position(a.until);
  }
  void check(const Run& a) {
    op(a.op);
    position(a.before);
  }
  void check(const Move& a) {
    value(a.value);
    tier(a.tier);
    op(a.after);
    if (!a.codec.empty()) codec(a.value, a.codec);
  }
  void check(const Fetch& a) {
    value(a.value);
    position(a.issue_before);
    position(a.needed_by);
  }
  void check(const Encode& a) {
    value(a.value);
    op(a.after);
    codec(a.value, a.codec);
  }
  void check(const Decode& a) {
    value(a.value);
    position(a.before);
  }
  void check(const Choose& a) {
    op(a.op);
    const std::vector<Implementation>& options = trace_.op(a.op).options;
    require(a.implementation >= 0 && a.implementation < static_cast<int>(options.size()),
            "unknown implementation");
    const Implementation& option = options[static_cast<std::size_t>(a.implementation)];
    require(option.bit_exact || problem_.allow_lossy, "inexact implementation");
    require(!option.on_host || !problem_.machine.tiers.empty(), "no host");
    require(chosen_.insert(a.op).second, "two implementations");
  }
  void check(const Place& a) {
    value(a.value);
    require(a.pool.has_value() != a.offset_bytes.has_value(), "neither pool nor offset, or both");
    require(a.pool.value_or(0) >= 0 && a.offset_bytes.value_or(0) >= 0, "negative place");
    require(placed_.insert(a.value).second, "two places");
  }
  void check(const Order&) { require(++orders_ == 1, "two orders"); }

 private:
  void value(ValueId id) const {
    require(id.valid() && id.slot() < trace_.values().size(), "unknown value");
  }
  void position(OpId id) const {
    require(id.valid() && id.slot() <= trace_.ops().size(), "unknown op");
  }
  void op(OpId id) const {
    require(id.valid() && id.slot() < trace_.ops().size(), "unknown op, or the end");
  }
  void tier(TierId id) const {
    require(id.valid() && id.slot() < problem_.machine.tiers.size(), "unknown tier");
  }
  // A plan that uses a lossy codec has it in an action that takes effect, since every action of an
  // accepted plan does.
  void codec(ValueId id, const std::string& name) const {
    const std::vector<CodecOption>& codecs = trace_.storage_of(id).codecs;
    const auto found = std::find_if(codecs.begin(), codecs.end(),
                                    [&](const CodecOption& c) { return c.name == name; });
    require(found != codecs.end(), "unknown codec");
    require(found->lossless || problem_.allow_lossy, "lossy codec");
  }

  const Problem& problem_;
  const Trace& trace_;
  std::set<StorageId> started_;
  std::set<OpId> chosen_;
  std::set<ValueId> placed_;
  int orders_ = 0;
};

// Op `later` must come after whoever made the value, and `later` before whoever overwrites it.
void check_dependences(const Trace& trace, const NaturalLives& lives, OpId op) {
  const int tick = lives.tick_of(op);
  for (const Use& use : trace.op(op).reads) {
    require(lives.born(use.value) < tick, "an op runs before what it reads is made");
    const ValueId next = lives.after(use.value);
    require(!next.valid() || lives.born(next) >= tick, "an op runs after what it reads is gone");
  }
  for (const Use& use : trace.op(op).writes) {
    const ValueId old = lives.before(use.value);
    require(!old.valid() || lives.born(old) < tick, "versions in the wrong order");
  }
  for (const StorageId view : trace.op(op).views) {
    const ValueId first = trace.versions(view).front();
    const bool made_before = trace.value(first).producer < op;
    require(!made_before || lives.born(first) < tick, "a view of what is not there yet");
  }
}

}  // namespace

void check_words(const Problem& problem, const Plan& plan) {
  Words words(problem);
  for (const StartsIn& start : plan.starts) words.check(start);
  for (const Action& action : plan.actions) {
    std::visit([&words](const auto& a) { words.check(a); }, action);
  }
}

std::vector<int> checked_order(const Trace& trace, const Plan& plan) {
  std::vector<int> sequence = NaturalLives::traced_order(trace);
  for (const Action& action : plan.actions) {
    const auto* order = std::get_if<Order>(&action);
    if (order == nullptr) continue;
    std::vector<int> named;
    for (const OpId op : order->sequence) named.push_back(op.index);
    require(std::is_permutation(named.begin(), named.end(), sequence.begin(), sequence.end()),
            "the order is no permutation");
    sequence = named;
  }
  const NaturalLives lives(trace, sequence);
  for (const int op : sequence) check_dependences(trace, lives, OpId{op});
  return sequence;
}

int held_until(const Plan& plan, const NaturalLives& lives, ValueId value, int tick) {
  int reach = -1;
  for (bool grows = true; grows;) {
    grows = false;
    for (const Action& action : plan.actions) {
      const auto* hold = std::get_if<Hold>(&action);
      if (hold == nullptr || hold->value != value) continue;
      const int from = hold->from == OpId{0} ? 0 : lives.tick_of(hold->from);
      const int until = lives.tick_of(hold->until);
      require(from <= until, "a hold ends before it begins");
      const bool touches = from <= std::max(tick, reach) && until >= tick;
      if (!touches || until <= reach) continue;
      reach = until;
      grows = true;
    }
  }
  return reach;
}

bool is_read_by_later_run(const Trace& trace, const Plan& plan, ValueId value, std::size_t index) {
  const OpId before = std::get<Run>(plan.actions[index]).before;
  for (std::size_t i = index + 1; i < plan.actions.size(); ++i) {
    const auto* run = std::get_if<Run>(&plan.actions[i]);
    if (run == nullptr || run->before != before) continue;
    for (const Use& use : trace.op(run->op).reads) {
      if (use.value == value && !use.side_effect) return true;
    }
  }
  return false;
}

const Implementation* chosen(const Trace& trace, const Plan& plan, OpId op) {
  for (const Action& action : plan.actions) {
    const auto* choose = std::get_if<Choose>(&action);
    if (choose == nullptr || choose->op != op) continue;
    return &trace.op(op).options[static_cast<std::size_t>(choose->implementation)];
  }
  return nullptr;
}

}  // namespace lowtide::oracle
