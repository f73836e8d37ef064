// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

#include "report/findings.h"

namespace lowtide::report {

// No page is larger.
inline constexpr std::size_t kLargestPage = 1'000'000;

// The report as one HTML file that needs nothing else and asks nobody: styles and script are in it,
// and its content-security policy lets only these two run, by their hashes. Whatever comes from the
// record is data to the script, which never turns text into markup.
std::string page(const Findings& findings);

// A record as a page; plans are made in about so many seconds.
std::string page_of(const RunRecord& record, double think_seconds);

// JSON as it may stand in a script element: what could end that is spelled by number.
std::string script_escaped(std::string_view json_text);

}  // namespace lowtide::report
