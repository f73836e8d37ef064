// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

// What the values of options must be. What CLI11 has for this puts words into the help, prints
// limits of three hundred digits and lets NaN pass.

namespace lowtide::cli {

// "not a whole number of at least 1: '0'". The upper limit is far beyond use, so that products of
// such numbers do not overflow.
CLI::Validator whole_number(std::int64_t least, std::int64_t most = 1'000'000'000'000);
// "not a number above 0: 'nan'". The upper limit is far beyond use, and within what a float holds.
CLI::Validator positive_number(double most = 1e30);
// For names and paths: an empty one comes from a variable of the shell that is not set.
CLI::Validator not_empty();
// "unknown 'x'; known are a, b and c".
CLI::Validator one_of(std::vector<std::string> names);

}  // namespace lowtide::cli
