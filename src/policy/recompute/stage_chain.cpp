// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "policy/recompute/stage_chain.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "plan/replay_reach.h"

namespace lowtide::policy {

using trace::Tick;

namespace {

std::size_t slot(Tick tick) { return static_cast<std::size_t>(tick); }

}  // namespace

StageChain::StageChain(const Problem& problem, const cost::CostTable& costs,
                       std::size_t most_stages)
    : trace_(*problem.trace),
      lifetimes_(*trace_.lifetimes()),
      costs_(costs),
      holds_(plan::hold_sources(problem, lifetimes_, costs)),
      pass_(trace_, lifetimes_, plan::ReplayReach(trace_, lifetimes_, holds_)),
      stage_of_(trace_.values().size(), -1),
      last_forward_(trace_.values().size(), -1) {
  find_stages(choose_cuts(most_stages));
  find_backward();
  find_saved();
  std::vector<bool> leaves(trace_.values().size());
  for (std::size_t i = 0; i < leaves.size(); ++i) leaves[i] = stage_of_[i] >= 0;
  others_.emplace(trace_, lifetimes_, costs_, leaves, holds_);
}

// All candidates if they are few enough; else one for each part of the pass that makes as many
// bytes as the others, where the fewest bytes cross.
std::vector<Tick> StageChain::choose_cuts(std::size_t most_stages) const {
  if (pass_.candidates.size() < most_stages) return pass_.candidates;
  std::vector<std::int64_t> crossing(slot(pass_.end) + 1, 0);
  std::vector<std::int64_t> made(slot(pass_.end) + 1, 0);
  for (std::size_t i = 0; i < pass_.values.size(); ++i) {
    const std::int64_t bytes = costs_.value(pass_.values[i]);
    const Tick born = lifetimes_.of(pass_.values[i]).born;
    crossing[slot(born)] += bytes;
    crossing[slot(pass_.last_forward[i])] -= bytes;
    made[slot(born)] += bytes;
  }
  std::partial_sum(crossing.begin(), crossing.end(), crossing.begin());
  std::partial_sum(made.begin(), made.end(), made.begin());
  const double part = static_cast<double>(made.back()) / static_cast<double>(most_stages);
  std::vector<Tick> cuts;
  double last_part = -1;
  for (const Tick candidate : pass_.candidates) {
    const double number = std::floor(static_cast<double>(made[slot(candidate)]) / part);
    // Of the last part, which may be a single byte, there need be none.
    if (number >= static_cast<double>(most_stages)) break;
    if (number > last_part) {
      cuts.push_back(candidate);
    } else if (crossing[slot(candidate)] <= crossing[slot(cuts.back())]) {
      cuts.back() = candidate;
    }
    last_part = number;
  }
  return cuts;
}

void StageChain::find_stages(const std::vector<Tick>& cuts) {
  Tick begin = 0;
  for (const Tick cut : cuts) {
    stages_.push_back({.begin = begin, .end = cut + 1});
    begin = cut + 1;
  }
  if (begin < pass_.end || stages_.empty()) stages_.push_back({.begin = begin, .end = pass_.end});
  for (std::size_t i = 0; i < pass_.values.size(); ++i) {
    const ValueId value = pass_.values[i];
    const trace::Lifetime& life = lifetimes_.of(value);
    // What outlives the step would have to be made again for its end.
    if (life.at_end) continue;
    std::size_t stage = stage_at(life.born);
    stage_of_[value.slot()] = static_cast<std::int32_t>(stage);
    last_forward_[value.slot()] = pass_.last_forward[i];
    while (++stage < stages_.size() && stages_[stage].begin <= pass_.last_forward[i]) {
      stages_[stage].inputs.push_back(value);
    }
  }
}

std::size_t StageChain::stage_at(Tick tick) const {
  const auto after = std::upper_bound(stages_.begin(), stages_.end(), tick,
                                      [](Tick t, const Stage& s) { return t < s.begin; });
  return static_cast<std::size_t>(after - stages_.begin()) - 1;
}

void StageChain::find_backward() {
  const Tick never = lifetimes_.end() + 1;
  for (Stage& stage : stages_) stage.back_start = never;
  Tick last_read = pass_.end;
  for (Tick tick = pass_.end; tick < lifetimes_.end(); ++tick) {
    Tick latest = -1;
    for (const Use& read : trace_.reads(lifetimes_.op_at(tick))) {
      latest = std::max(latest, last_forward(read.value));
    }
    if (latest < 0) continue;
    last_read = tick;
    Tick& start = stages_[stage_at(latest)].back_start;
    start = std::min(start, tick);
  }
  // Backwards through the stages; one that nobody reads from has no ticks of its own.
  Tick start = pass_.end;
  for (std::size_t i = stages_.size(); i-- > 0;) {
    Stage& stage = stages_[i];
    if (stage.back_start != never) start = std::max(start, stage.back_start);
    stage.back_start = start;
  }
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    stages_[i].back_end = i == 0 ? last_read + 1 : stages_[i - 1].back_start;
  }
}

void StageChain::find_saved() {
  for (const ValueId value : pass_.values) {
    if (stage_of(value) < 0) continue;
    Stage& stage = stages_[static_cast<std::size_t>(stage_of(value))];
    if (lifetimes_.of(value).last_read() >= std::max(stage.back_start, pass_.end)) {
      stage.saved.push_back(value);
    }
  }
}

std::vector<ValueId> StageChain::saved_and_outputs(std::size_t stage) const {
  std::vector<ValueId> made = outputs(stage);
  made.insert(made.end(), stages_[stage].saved.begin(), stages_[stage].saved.end());
  std::sort(made.begin(), made.end());
  made.erase(std::unique(made.begin(), made.end()), made.end());
  return made;
}

std::vector<ValueId> StageChain::outputs(std::size_t stage) const {
  std::vector<ValueId> made;
  if (stage + 1 == stages_.size()) return made;
  for (const ValueId value : stages_[stage + 1].inputs) {
    if (is_made_in(value, stage)) made.push_back(value);
  }
  return made;
}

// The ops of the stage that the results need, carried out in turn; what nobody needs any more goes.
StageChain::Rerun StageChain::rerun(const Stage& stage, const std::vector<ValueId>& results) const {
  std::vector<std::int32_t> readers_left(trace_.values().size(), 0);
  for (const ValueId result : results) ++readers_left[result.slot()];
  std::vector<Tick> needed;
  for (Tick tick = stage.end; tick-- > stage.begin;) {
    const OpId op = lifetimes_.op_at(tick);
    const auto writes = trace_.writes(op);
    if (std::none_of(writes.begin(), writes.end(), [&](const Use& write) {
          return stage_of(write.value) >= 0 && readers_left[write.value.slot()] > 0;
        })) {
      continue;
    }
    needed.push_back(tick);
    for (const Use& read : trace_.reads(op)) ++readers_left[read.value.slot()];
  }
  Rerun rerun;
  std::int64_t live = 0;
  for (std::size_t i = needed.size(); i-- > 0;) {
    const OpId op = lifetimes_.op_at(needed[i]);
    std::int64_t made = 0;
    std::int64_t stays = 0;
    for (const Use& write : trace_.writes(op)) {
      made += costs_.value(write.value);
      if (readers_left[write.value.slot()] > 0) stays += costs_.value(write.value);
    }
    rerun.seconds += costs_.op(op);
    rerun.peak_bytes = std::max(rerun.peak_bytes, live + made + costs_.workspace(op));
    live += stays;
    for (const Use& read : trace_.reads(op)) {
      const bool is_last = --readers_left[read.value.slot()] == 0;
      const bool is_ours =
          stage_of(read.value) >= 0 && lifetimes_.of(read.value).born >= stage.begin;
      if (is_last && is_ours) live -= costs_.value(read.value);
    }
  }
  return rerun;
}

std::int64_t StageChain::fullest_back(const Stage& stage) const {
  const bool is_last = &stage == &stages_.back();
  std::int64_t fullest = 0;
  for (Tick tick = is_last ? pass_.end : stage.back_start; tick < stage.back_end; ++tick) {
    if (tick >= lifetimes_.end()) break;
    fullest =
        std::max(fullest, others_->during[slot(tick)] + costs_.workspace(lifetimes_.op_at(tick)));
  }
  return fullest;
}

// The last stage is gone through in the forward pass itself.
std::int64_t StageChain::others_before_back(std::size_t stage) const {
  if (stage + 1 < stages_.size()) return others_->before[slot(stages_[stage].back_start)];
  const auto begin = others_->before.begin();
  return *std::max_element(begin, begin + pass_.end + 1);
}

solve::Chain StageChain::in_units_of(std::int64_t bytes) const {
  const auto units = [&](std::int64_t amount) {
    return static_cast<std::int32_t>(
        std::min<std::int64_t>((amount + bytes / 2) / bytes, std::int64_t{1} << 24));
  };
  const auto bytes_of = [&](const std::vector<ValueId>& values) {
    return std::accumulate(values.begin(), values.end(), std::int64_t{0},
                           [&](std::int64_t sum, ValueId v) { return sum + costs_.value(v); });
  };
  solve::Chain chain;
  for (std::size_t i = 0; i < stages_.size(); ++i) {
    const std::vector<ValueId> made = saved_and_outputs(i);
    const Rerun forward = rerun(stages_[i], outputs(i));
    const Rerun saving = rerun(stages_[i], made);
    const Rerun final = rerun(stages_[i], stages_[i].saved);
    chain.forward_cost.push_back(forward.seconds);
    chain.forward_room.push_back(units(forward.peak_bytes));
    chain.saving_cost.push_back(saving.seconds);
    chain.saving_room.push_back(units(saving.peak_bytes));
    chain.saved_room.push_back(units(bytes_of(made)));
    chain.final_cost.push_back(final.seconds);
    chain.final_saving_room.push_back(units(final.peak_bytes));
    chain.final_room.push_back(units(bytes_of(stages_[i].saved)));
    chain.backward_room.push_back(units(fullest_back(stages_[i])));
    chain.others_room.push_back(units(others_before_back(i)));
  }
  chain.input_room.assign(size(), std::vector<std::int32_t>(size(), 0));
  for (std::size_t j = 0; j < size(); ++j) {
    // By the stage that makes them; what an earlier input has too does not count again.
    std::vector<std::int64_t> made_in(size() + 1, 0);
    for (const ValueId value : stages_[j].inputs) {
      made_in[static_cast<std::size_t>(stage_of(value))] += costs_.value(value);
    }
    std::int64_t sum = 0;
    for (std::size_t i = j; i-- > 0;) {
      sum += made_in[i];
      chain.input_room[i][j] = units(sum);
    }
  }
  return chain;
}

// Replays start from an input until the way back through its stage begins, and that may read it.
Tick StageChain::input_until(std::size_t stage, ValueId value) const {
  const auto& reads = lifetimes_.of(value).reads;
  const auto end = std::lower_bound(reads.begin(), reads.end(), stages_[stage].back_end);
  const Tick last = end == reads.begin() ? 0 : *(end - 1);
  return std::max(stages_[stage].back_start, last);
}

double StageChain::seconds(std::size_t stage) const {
  double sum = 0;
  for (Tick tick = stages_[stage].begin; tick < stages_[stage].end; ++tick) {
    sum += costs_.op(lifetimes_.op_at(tick));
  }
  return sum;
}

StayDecisions StageChain::stays(const std::vector<solve::ChainStep>& steps) const {
  StayDecisions decisions = forward_stays();
  add_steps(steps, -1, size() - 1, decisions.stays);
  join_neighbours(decisions.stays);
  return decisions;
}

StayDecisions StageChain::forward_stays() const {
  StayDecisions decisions;
  decisions.leaves.assign(trace_.values().size(), false);
  for (const ValueId value : pass_.values) {
    if (stage_of(value) < 0) continue;
    decisions.leaves[value.slot()] = true;
    decisions.stays.push_back({value, lifetimes_.of(value).born, last_forward(value)});
  }
  for (const plan::ExtendedLife& hold : holds_) {
    decisions.stays.push_back({hold.value, -1, hold.until});
  }
  return decisions;
}

// In the forward pass things stay from their making on; later, from the op before which they are
// made again.
void StageChain::add_steps(const std::vector<solve::ChainStep>& steps, Tick now,
                           std::size_t next_back, std::vector<Stay>& stays) const {
  using Kind = solve::ChainStep::Kind;
  const auto stay = [&](ValueId value, Tick to) {
    const Tick from = std::max(now, lifetimes_.of(value).born);
    if (from <= to) stays.push_back({value, from, to});
  };
  const auto keep_inputs = [&](std::size_t stage) {
    for (const ValueId value : stages_[stage].inputs) stay(value, input_until(stage, value));
  };
  for (const solve::ChainStep& step : steps) {
    const auto stage = static_cast<std::size_t>(step.stage);
    if (step.kind == Kind::kKeepInput) keep_inputs(stage);
    if (step.kind == Kind::kSave) {
      for (const ValueId value : stages_[stage].saved) {
        stay(value, lifetimes_.of(value).last_read());
      }
      if (stage < next_back) keep_inputs(stage + 1);
    }
    if (step.kind == Kind::kBackward && stage > 0) {
      next_back = stage - 1;
      now = stages_[next_back].back_start;
    }
  }
}

void StageChain::join_neighbours(std::vector<Stay>& stays) {
  std::sort(stays.begin(), stays.end(), [](const Stay& a, const Stay& b) {
    return a.value != b.value ? a.value < b.value : a.from < b.from;
  });
  for (std::size_t i = 1; i < stays.size(); ++i) {
    const bool is_next =
        stays[i - 1].value == stays[i].value && stays[i - 1].to + 1 == stays[i].from;
    if (is_next) ++stays[i - 1].to;
  }
}

}  // namespace lowtide::policy
