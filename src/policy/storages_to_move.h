// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "lowtide/plan.h"

namespace lowtide::policy {

// By storage, for policies that move whatever they can: all that may move to the first tier, as
// long as it could hold them together.
std::vector<bool> storages_to_move(const Problem& problem);

}  // namespace lowtide::policy
