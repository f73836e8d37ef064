// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "cli/json_text.h"

namespace lowtide::cli {

std::string json_text(const nlohmann::json& document) {
  return document.dump(1, ' ', /*ensure_ascii=*/false, nlohmann::json::error_handler_t::replace) +
         "\n";
}

}  // namespace lowtide::cli
