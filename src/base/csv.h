// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace lowtide::base {

// `text` as one field of a line of CSV: in quotes where it has to be.
std::string csv_field(const std::string& text);

}  // namespace lowtide::base
