// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "base/bytes.h"

#include <array>
#include <cctype>
#include <cmath>
#include <cstdio>
#include <optional>
#include <utility>

#include "base/check.h"
#include "base/numbers.h"

namespace lowtide::base {
namespace {

// Below 2^63, so that what is smaller fits an std::int64_t.
constexpr double kMaxBytes = 9e18;

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return result;
}

std::string_view trim(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
  return text;
}

std::optional<double> unit_bytes(std::string_view suffix) {
  static constexpr std::array<std::pair<std::string_view, double>, 14> kUnits{{
      {"", 1},
      {"b", 1},
      {"k", 1024.0},
      {"kib", 1024.0},
      {"kb", 1e3},
      {"m", 1048576.0},
      {"mib", 1048576.0},
      {"mb", 1e6},
      {"g", 1073741824.0},
      {"gib", 1073741824.0},
      {"gb", 1e9},
      {"t", 1099511627776.0},
      {"tib", 1099511627776.0},
      {"tb", 1e12},
  }};
  const std::string name = lower(suffix);
  for (const auto& [unit, bytes] : kUnits) {
    if (unit == name) return bytes;
  }
  return std::nullopt;
}

// Splits "1.5 GiB" into its number and the rest.
std::pair<std::string_view, std::string_view> split_number(std::string_view text) {
  std::size_t end = 0;
  while (end < text.size() &&
         (std::isdigit(static_cast<unsigned char>(text[end])) != 0 || text[end] == '.')) {
    ++end;
  }
  return {text.substr(0, end), trim(text.substr(end))};
}

}  // namespace

std::int64_t parse_bytes(std::string_view text) {
  const auto [number, suffix] = split_number(trim(text));
  const std::optional<double> amount = parse_number<double>(number);
  const std::optional<double> unit = unit_bytes(suffix);
  LT_REQUIRE(amount && unit, "not a size: '", text,
             "'; write a number of bytes or a size such as 8GiB, 1.5GiB or 512MiB");
  const std::optional<std::int64_t> whole = parse_number<std::int64_t>(number);
  // A double does not hold every large whole number.
  if (whole && *unit == 1) return *whole;
  const double bytes = std::floor(*amount * *unit + 0.5);
  LT_REQUIRE(bytes < kMaxBytes, "size too large: '", text, "'");
  return static_cast<std::int64_t>(bytes);
}

std::int64_t parse_budget(std::string_view text, std::int64_t whole_bytes) {
  const std::string_view trimmed = trim(text);
  if (trimmed.empty() || trimmed.back() != '%') return parse_bytes(text);
  const auto percent = parse_number<double>(trim(trimmed.substr(0, trimmed.size() - 1)));
  LT_REQUIRE(percent && *percent >= 0 && *percent <= 1000, "not a share: '", text,
             "'; write a percentage of the plain peak such as 60%");
  const double bytes = static_cast<double>(whole_bytes) * *percent / 100.0;
  LT_REQUIRE(bytes < kMaxBytes, "share too large: '", text, "' of ", whole_bytes, " bytes");
  return static_cast<std::int64_t>(bytes);
}

std::string format_bytes(std::int64_t bytes) {
  static constexpr std::array<const char*, 5> kUnits{"B", "KiB", "MiB", "GiB", "TiB"};
  double amount = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (std::abs(amount) >= 1023.95 && unit + 1 < kUnits.size()) {
    amount /= 1024.0;
    ++unit;
  }
  const int decimals = unit == 0 ? 0 : std::abs(amount) < 10 ? 2 : 1;
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), "%.*f %s", decimals, amount, kUnits[unit]);
  return text.data();
}

std::string format_seconds(double seconds) {
  // A little below each unit, where three digits round up to it.
  const double size = std::abs(seconds);
  const bool whole_seconds = size >= 0.9995 || seconds == 0;
  const bool milliseconds = !whole_seconds && size >= 0.9995e-3;
  const double amount = seconds * (whole_seconds ? 1 : milliseconds ? 1e3 : 1e6);
  const char* unit = whole_seconds ? "s" : milliseconds ? "ms" : "us";
  std::array<char, 64> text{};
  std::snprintf(text.data(), text.size(), size >= 999.5 ? "%.0f %s" : "%.3g %s", amount, unit);
  return text.data();
}

std::int64_t round_up(std::int64_t bytes, std::int64_t unit) {
  LT_CHECK(unit > 0 && bytes >= 0, "cannot round ", bytes, " up to ", unit);
  return (bytes + unit - 1) / unit * unit;
}

}  // namespace lowtide::base
