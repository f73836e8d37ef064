// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "plan/residency.h"

#include "base/check.h"
#include "cost/op_cost.h"

namespace lowtide::plan {

Residency::Residency(const Problem& problem, const Plan& plan, Findings& findings)
    : problem_(problem),
      trace_(*problem.trace),
      arena_(problem, plan, findings),
      values_(trace_.values().size()),
      losses_(trace_.values().size()),
      tier_held_bytes_(problem.machine.tiers.size(), 0),
      tier_peak_bytes_(problem.machine.tiers.size(), 0),
      tier_peak_op_(problem.machine.tiers.size()) {
  std::vector<TierId> starts(trace_.storages().size());
  for (const StartsIn& start : plan.starts) starts[start.storage.slot()] = start.tier;
  position_ = make_id<OpId>(0);
  peak_op_ = position_;
  for (std::size_t i = 0; i < values_.size(); ++i) {
    const auto value = make_id<ValueId>(i);
    if (!trace_.value(value).is_source()) continue;
    const TierId tier = starts[trace_.value(value).storage.slot()];
    if (tier.valid()) {
      make_in_tier(value, tier);
    } else {
      make_raw(value);
    }
  }
}

std::int64_t Residency::raw_bytes(ValueId value) const {
  return cost::device_bytes(trace_.storage_of(value), problem_.machine);
}

std::int64_t Residency::encoded_bytes(ValueId value, std::int32_t codec) const {
  return codec < 0 ? 0 : cost::device_bytes(tier_bytes(value, codec), problem_.machine);
}

std::int64_t Residency::tier_bytes(ValueId value, std::int32_t codec) const {
  const Storage& storage = trace_.storage_of(value);
  return codec < 0 ? storage.bytes : storage.codecs[static_cast<std::size_t>(codec)].bytes;
}

std::int64_t Residency::device_bytes(ValueId value) const {
  const Presence& here = of(value);
  switch (here.form) {
    case Form::kAbsent:
      return 0;
    case Form::kRaw:
      return raw_bytes(value);
    case Form::kEncoded:
      return encoded_bytes(value, here.codec);
    case Form::kIncoming:
      return raw_bytes(value) + encoded_bytes(value, here.tier_codec);
  }
  return 0;
}

void Residency::begin_tick(OpId position) {
  position_ = position;
  held_bytes_ -= leaving_bytes_;
  leaving_bytes_ = 0;
}

void Residency::use_besides(std::int64_t bytes) {
  if (held_bytes_ + bytes <= peak_bytes_) return;
  peak_bytes_ = held_bytes_ + bytes;
  peak_op_ = position_;
}

void Residency::make_raw(ValueId value) {
  at(value).form = Form::kRaw;
  held_bytes_ += raw_bytes(value);
  arena_.enter(value, position_);
  use_besides(0);
}

void Residency::make_in_tier(ValueId value, TierId tier) { enter_tier(value, tier, -1); }

void Residency::let_go(ValueId value, Loss loss) {
  held_bytes_ -= device_bytes(value);
  at(value).form = Form::kAbsent;
  at(value).codec = -1;
  at(value).fetch = -1;
  arena_.leave(value);
  losses_[value.slot()] = {loss, position_};
}

void Residency::release(ValueId value) {
  if (of(value).nowhere()) return;
  // An incoming value's bytes depend on its copy, so the device goes first.
  if (of(value).form != Form::kAbsent) let_go(value, Loss::kReleased);
  if (of(value).tier.valid()) leave_tier(value);
  losses_[value.slot()] = {Loss::kReleased, position_};
}

void Residency::encode(ValueId value, std::int32_t codec) {
  use_besides(encoded_bytes(value, codec));
  held_bytes_ -= device_bytes(value);
  at(value).form = Form::kEncoded;
  at(value).codec = codec;
  held_bytes_ += device_bytes(value);
}

void Residency::decode(ValueId value) {
  use_besides(raw_bytes(value));
  held_bytes_ -= device_bytes(value);
  at(value).form = Form::kRaw;
  at(value).codec = -1;
  held_bytes_ += device_bytes(value);
}

void Residency::move(ValueId value, TierId tier, std::int32_t codec) {
  if (codec >= 0) encode(value, codec);
  leaving_bytes_ += device_bytes(value);
  at(value).form = Form::kAbsent;
  at(value).codec = -1;
  // Nothing else comes in this tick any more.
  arena_.leave(value);
  enter_tier(value, tier, codec);
}

void Residency::issue_fetch(ValueId value, std::int32_t action) {
  at(value).form = Form::kIncoming;
  at(value).fetch = action;
  held_bytes_ += device_bytes(value);
  arena_.enter(value, position_);
  use_besides(0);
}

void Residency::finish_fetch(ValueId value) {
  held_bytes_ -= device_bytes(value);
  leave_tier(value);
  at(value).form = Form::kRaw;
  at(value).fetch = -1;
  held_bytes_ += device_bytes(value);
}

void Residency::enter_tier(ValueId value, TierId tier, std::int32_t codec) {
  at(value).tier = tier;
  at(value).tier_codec = codec;
  std::int64_t& held = tier_held_bytes_[tier.slot()];
  held += tier_bytes(value, codec);
  if (held <= tier_peak_bytes_[tier.slot()]) return;
  tier_peak_bytes_[tier.slot()] = held;
  tier_peak_op_[tier.slot()] = position_;
}

void Residency::leave_tier(ValueId value) {
  tier_held_bytes_[of(value).tier.slot()] -= tier_bytes(value, of(value).tier_codec);
  at(value).tier = TierId{};
  at(value).tier_codec = -1;
}

std::string Residency::whereabouts(ValueId value) const {
  const Presence& here = of(value);
  if (here.form == Form::kRaw) return "is on the device";
  if (here.form == Form::kEncoded) return "is on the device in encoded form only";
  if (here.tier.valid()) {
    const std::string tier = "tier " + problem_.machine.tier(here.tier).name;
    if (here.form == Form::kIncoming) return "is still on its way from " + tier;
    return "lies in " + tier + (here.tier_codec < 0 ? "" : ", encoded");
  }
  const Lost& lost = losses_[value.slot()];
  switch (lost.loss) {
    case Loss::kNeverMade:
      return "has not been made yet";
    case Loss::kDroppedAfter:
      return "was dropped after " + trace_.op_name(lost.op);
    case Loss::kDroppedBefore:
      return "was dropped before " + trace_.op_name(lost.op);
    case Loss::kReleased:
      return "was released after " + trace_.op_name(lost.op);
    case Loss::kUnwanted:
      return "was not kept by the replay before " + trace_.op_name(lost.op);
  }
  return "is not on the device";
}

}  // namespace lowtide::plan
