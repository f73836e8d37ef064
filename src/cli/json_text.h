// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace lowtide::cli {

// What --json prints. Bytes that are no UTF-8, which the name of a file may have, are replaced:
// they are no reason to lose the result.
std::string json_text(const nlohmann::json& document);

}  // namespace lowtide::cli
