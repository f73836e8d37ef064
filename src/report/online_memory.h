// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include "lowtide/simulate.h"
#include "report/study.h"

namespace lowtide::report {

// The plain step's memory less what the online rule had sent away meanwhile: by its ops and their
// plain times. What replays take while they run is not in it. Requires: the record has what the
// rule did.
Timeline memory_under_online_rule(const Study& study);

}  // namespace lowtide::report
