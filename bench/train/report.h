// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "measure.h"
#include "op_cost.h"

namespace lowtide::bench {

void print(std::ostream& out, const Measurement& measurement);
void print(std::ostream& out, const std::vector<OpCost>& costs);

nlohmann::json to_json(const Measurement& measurement);
nlohmann::json to_json(const std::vector<OpCost>& costs);

}  // namespace lowtide::bench
