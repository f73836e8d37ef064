// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "plan/reads.h"

#include "base/check.h"
#include "cost/op_cost.h"

namespace lowtide::plan {

using Kind = Violation::Kind;

Reads::Reads(const Problem& problem, const Schedule& schedule, const Residency& residency,
             Findings& findings)
    : trace_(*problem.trace), schedule_(schedule), residency_(residency), findings_(findings) {}

const Implementation* Reads::chosen(OpId op) const {
  const std::int32_t index = schedule_.chosen(op);
  return index < 0 ? nullptr : &trace_.op(op).options[static_cast<std::size_t>(index)];
}

void Reads::check(OpId op, Who who, Tick tick, OpId position) const {
  const Implementation* option = chosen(op);
  const bool on_host = option != nullptr && option->on_host;
  for (const Use& use : trace_.op(op).reads) {
    if (who == kReplay && use.side_effect) continue;
    if (on_host) {
      check_on_host(op, use.value);
    } else {
      check_on_device(op, use.value, who, tick, position);
    }
  }
}

void Reads::check_on_host(OpId op, ValueId value) const {
  const Presence& here = residency_.of(value);
  const auto host = make_id<TierId>(0);
  if (here.lies_plain_in(host)) return;
  const Kind kind = here.tier == host ? Kind::kEncoded : Kind::kNotInTier;
  findings_.add(
      {kind, op, value,
       base::concat("op ", trace_.op_name(op), " runs on the host and reads ",
                    trace_.value_name(value), ", which ", residency_.whereabouts(value))});
}

void Reads::check_on_device(OpId op, ValueId value, Who who, Tick tick, OpId position) const {
  const Presence& here = residency_.of(value);
  if (here.form == Form::kRaw) return;
  const Implementation* option = chosen(op);
  const bool reads_host = option != nullptr && option->reads_host;
  if (reads_host && here.lies_plain_in(make_id<TierId>(0))) return;
  const trace::Lifetime& life = schedule_.lifetimes().of(value);
  Kind kind = here.form == Form::kEncoded ? Kind::kEncoded : Kind::kNotResident;
  const bool overwritten = life.overwritten && life.dies < tick;
  if (who == kReplay && here.nowhere() && trace_.value(value).is_source() && overwritten) {
    kind = Kind::kStaleSource;
  }
  findings_.add({kind, op, value, sentence(op, value, who, position)});
}

std::string Reads::sentence(OpId op, ValueId value, Who who, OpId position) const {
  const std::string reader = who == kOriginal ? "op " + trace_.op_name(op)
                                              : base::concat("the replay of ", trace_.op_name(op),
                                                             " before ", trace_.op_name(position));
  return base::concat(reader, " reads ", trace_.value_name(value), ", which ",
                      residency_.whereabouts(value));
}

std::int64_t workspace_bytes(const Problem& problem, const Op& op, const Implementation* chosen) {
  const std::int64_t bytes = chosen == nullptr ? op.workspace_bytes : chosen->workspace_bytes;
  return cost::device_bytes(bytes, problem.machine);
}

}  // namespace lowtide::plan
