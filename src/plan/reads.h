// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include "plan/findings.h"
#include "plan/residency.h"
#include "plan/schedule.h"

namespace lowtide::plan {

// The checker's rules for what an op finds when it reads.
class Reads {
 public:
  enum Who : std::uint8_t { kOriginal, kReplay };

  Reads(const Problem& problem, const Schedule& schedule, const Residency& residency,
        Findings& findings);

  // The implementation that the plan chose; nullptr for the traced one.
  const Implementation* chosen(OpId op) const;

  // Reports every value that the op reads and cannot, in the tick whose position is given. A replay
  // does not read side effects.
  void check(OpId op, Who who, Tick tick, OpId position) const;

 private:
  void check_on_host(OpId op, ValueId value) const;
  void check_on_device(OpId op, ValueId value, Who who, Tick tick, OpId position) const;
  std::string sentence(OpId op, ValueId value, Who who, OpId position) const;

  const Trace& trace_;
  const Schedule& schedule_;
  const Residency& residency_;
  Findings& findings_;
};

// Bytes on the device that the op works in; `chosen` may be nullptr.
std::int64_t workspace_bytes(const Problem& problem, const Op& op, const Implementation* chosen);

}  // namespace lowtide::plan
