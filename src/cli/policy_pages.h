// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include <nlohmann/json_fwd.hpp>

#include "cli/console.h"
#include "lowtide/policy.h"

// The catalogue of policies as a listing, a page, JSON and Markdown: the command line and the docs
// print the same table.

namespace lowtide::cli {

std::string catalogue_table(const Style& style);
std::string catalogue_markdown();
nlohmann::json catalogue_json();

std::string policy_page(const PolicyInfo& info, const Style& style);
std::string policy_markdown(const PolicyInfo& info);
nlohmann::json policy_json(const PolicyInfo& info);

}  // namespace lowtide::cli
