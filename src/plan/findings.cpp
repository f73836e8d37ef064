// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "plan/findings.h"

namespace lowtide::plan {

void Findings::add(Violation violation) {
  if (!full()) violations_.push_back(std::move(violation));
}

}  // namespace lowtide::plan
