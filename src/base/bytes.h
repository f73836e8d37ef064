// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace lowtide::base {

inline constexpr std::int64_t kKiB = std::int64_t{1} << 10;
inline constexpr std::int64_t kMiB = std::int64_t{1} << 20;
inline constexpr std::int64_t kGiB = std::int64_t{1} << 30;

// "8GiB", "1.5 GiB", "512MB", "4096": a number of bytes. KiB and KB both mean what they say
// (powers of 1024 and of 1000); k, m, g and t alone mean the binary ones.
// Throws InvalidInput, saying what forms are accepted.
std::int64_t parse_bytes(std::string_view text);

// A size, or a share of `whole_bytes` ("60%").
std::int64_t parse_budget(std::string_view text, std::int64_t whole_bytes);

// "1.50 GiB", "312 B": for people, never parsed back exactly.
std::string format_bytes(std::int64_t bytes);

// "12.3 ms", "4.56 s": for people.
std::string format_seconds(double seconds);

// `bytes` rounded up to a multiple of `unit`. Requires: unit > 0, bytes >= 0.
std::int64_t round_up(std::int64_t bytes, std::int64_t unit);

}  // namespace lowtide::base
