// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

namespace lowtide::report {

// report.js and report.css, linked in.
std::string_view script();
std::string_view style();

// "sha256-...", as a content-security policy names them.
std::string script_hash();
std::string style_hash();

// Bytes in hexadecimal digits as base64. Requires: an even number of digits, and nothing else.
std::string base64_of_hex(std::string_view hex);

}  // namespace lowtide::report
