// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "report/online_deeds.h"

#include <array>
#include <optional>
#include <string>
#include <string_view>

#include "base/check.h"

namespace lowtide::report {
namespace {

using nlohmann::json;
using plan::OnlineDeed;

// By their values.
constexpr std::array<std::string_view, 5> kWords = {"drop", "move", "fetch", "replay", "away"};

OnlineDeed::Kind kind_of(const base::JsonReader& in) {
  const std::string word = in.string("do");
  for (std::size_t i = 0; i < kWords.size(); ++i) {
    if (kWords[i] == word) return static_cast<OnlineDeed::Kind>(i);
  }
  throw InvalidInput(
      base::concat(in.path(), ".do: expected drop, move, fetch, replay or away, found ", word));
}

std::int32_t index_in(const base::JsonReader& in, const char* key, std::size_t end) {
  const std::int64_t index = in.integer(key);
  LT_REQUIRE(index >= 0 && index < static_cast<std::int64_t>(end), in.path(), ".", key,
             ": expected a number below ", end, ", found ", index);
  return static_cast<std::int32_t>(index);
}

double seconds_in(const base::JsonReader& in, const char* key) {
  const double seconds = in.number(key, 0);
  LT_REQUIRE(seconds >= 0, in.path(), ".", key, ": expected a time that is not negative");
  return seconds;
}

std::optional<double> price_in(const base::JsonReader& in, const char* key) {
  return in.has(key) ? std::optional(seconds_in(in, key)) : std::nullopt;
}

bool is_eviction(OnlineDeed::Kind kind) {
  return kind == OnlineDeed::Kind::kDrop || kind == OnlineDeed::Kind::kMove;
}

json deed_json(const OnlineDeed& deed) {
  json entry{{"do", kWords[static_cast<std::size_t>(deed.kind)]},
             {"storage", deed.storage.index},
             {"op", deed.op.index}};
  if (is_eviction(deed.kind)) {
    entry["unused_seconds"] = deed.price.unused_seconds;
    if (deed.price.drop_seconds) entry["drop_seconds"] = *deed.price.drop_seconds;
    if (deed.price.move_seconds) entry["move_seconds"] = *deed.price.move_seconds;
  }
  if (deed.kind == OnlineDeed::Kind::kMove) entry["copied"] = deed.is_copied;
  if (deed.kind == OnlineDeed::Kind::kReplay) entry["seconds"] = deed.seconds;
  return entry;
}

}  // namespace

std::vector<OnlineDeed> parse_online_deeds(const base::JsonReader& run, const Trace& trace) {
  std::vector<OnlineDeed> deeds;
  run.for_each("online", [&](const base::JsonReader& in) {
    OnlineDeed deed;
    deed.kind = kind_of(in);
    deed.storage = StorageId{index_in(in, "storage", trace.storages().size())};
    deed.op = OpId{index_in(in, "op", trace.ops().size() + 1)};
    if (is_eviction(deed.kind)) {
      deed.price = {price_in(in, "drop_seconds"), price_in(in, "move_seconds"),
                    seconds_in(in, "unused_seconds")};
    }
    if (deed.kind == OnlineDeed::Kind::kMove) deed.is_copied = in.boolean("copied", true);
    if (deed.kind == OnlineDeed::Kind::kReplay) deed.seconds = seconds_in(in, "seconds");
    deeds.push_back(deed);
  });
  return deeds;
}

json online_deeds_json(const std::vector<OnlineDeed>& deeds) {
  json list = json::array();
  for (const OnlineDeed& deed : deeds) list.push_back(deed_json(deed));
  return list;
}

}  // namespace lowtide::report
