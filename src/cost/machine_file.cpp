// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "cost/machine_file.h"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "base/check.h"
#include "base/json_reader.h"
#include "trace/names.h"

namespace lowtide::cost {
namespace {

using base::JsonReader;
using nlohmann::json;

constexpr std::int64_t kVersion = 1;

// Beyond these no figure means anything, and sums over a step would overflow: times as in traces,
// and what a block is rounded up to times as many blocks as a trace may have.
constexpr double kMostSeconds = 1e9;
constexpr double kLeastSpeed = 1e-3;
constexpr double kMostSpeed = 1e24;
constexpr std::int64_t kMostRoundedBytes = std::int64_t{1} << 30;

// Of a link: bytes a second.
double speed(const JsonReader& in, const char* key) {
  const double number = in.number(key);
  LT_REQUIRE(number > 0, in.path(), ".", key, ": expected more than 0, found ", number);
  LT_REQUIRE(number >= kLeastSpeed && number <= kMostSpeed, in.path(), ".", key, ": expected ",
             kLeastSpeed, " to ", kMostSpeed, ", found ", number);
  return number;
}

// Without a speed the roofline leaves that side out, and op_seconds remains.
double speed_if_known(const JsonReader& in, const char* key) {
  return in.number(key, 0) == 0 ? 0 : speed(in, key);
}

double seconds(const JsonReader& in, const char* key, double fallback) {
  const double number = in.number(key, fallback);
  LT_REQUIRE(number >= 0, in.path(), ".", key, ": expected 0 or more, found ", number);
  LT_REQUIRE(number <= kMostSeconds, in.path(), ".", key, ": expected at most ", kMostSeconds,
             " seconds, found ", number);
  return number;
}

std::int64_t positive_bytes(const JsonReader& in, const char* key, std::int64_t fallback) {
  const std::int64_t bytes = in.integer(key, fallback);
  LT_REQUIRE(bytes > 0, in.path(), ".", key, ": expected more than 0 bytes, found ", bytes);
  return bytes;
}

std::int64_t rounded_bytes(const JsonReader& in, const char* key, std::int64_t fallback) {
  const std::int64_t bytes = positive_bytes(in, key, fallback);
  LT_REQUIRE(bytes <= kMostRoundedBytes, in.path(), ".", key, ": expected at most ",
             kMostRoundedBytes, " bytes, found ", bytes);
  return bytes;
}

Tier read_tier(const JsonReader& in) {
  in.require_only({"name", "capacity_bytes", "write_bytes_per_second", "read_bytes_per_second",
                   "latency_seconds", "duplex", "copies_beside_work"});
  Tier tier;
  tier.name = in.string("name");
  trace::require_name(tier.name, "tier");
  tier.capacity_bytes = positive_bytes(in, "capacity_bytes", 0);
  tier.write_bytes_per_second = speed(in, "write_bytes_per_second");
  tier.read_bytes_per_second = speed(in, "read_bytes_per_second");
  tier.latency_seconds = seconds(in, "latency_seconds", tier.latency_seconds);
  tier.duplex = in.number("duplex", tier.duplex);
  LT_REQUIRE(tier.duplex > 0 && tier.duplex <= 1, in.path(),
             ".duplex: expected a share above 0 and up to 1, found ", tier.duplex);
  tier.copies_beside_work = in.boolean("copies_beside_work", tier.copies_beside_work);
  return tier;
}

AllocatorRules read_allocator(const JsonReader& in) {
  in.require_only({"round_bytes", "small_bytes", "small_segment_bytes", "large_request_bytes",
                   "large_segment_bytes", "large_round_bytes", "expandable_segments"});
  AllocatorRules rules;
  rules.round_bytes = rounded_bytes(in, "round_bytes", rules.round_bytes);
  rules.small_bytes = rounded_bytes(in, "small_bytes", rules.small_bytes);
  rules.small_segment_bytes = rounded_bytes(in, "small_segment_bytes", rules.small_segment_bytes);
  rules.large_request_bytes = rounded_bytes(in, "large_request_bytes", rules.large_request_bytes);
  rules.large_segment_bytes = rounded_bytes(in, "large_segment_bytes", rules.large_segment_bytes);
  rules.large_round_bytes = rounded_bytes(in, "large_round_bytes", rules.large_round_bytes);
  rules.expandable_segments = in.boolean("expandable_segments", rules.expandable_segments);
  return rules;
}

json tier_json(const Tier& tier) {
  return {{"name", tier.name},
          {"capacity_bytes", tier.capacity_bytes},
          {"write_bytes_per_second", tier.write_bytes_per_second},
          {"read_bytes_per_second", tier.read_bytes_per_second},
          {"latency_seconds", tier.latency_seconds},
          {"duplex", tier.duplex},
          {"copies_beside_work", tier.copies_beside_work}};
}

json allocator_json(const AllocatorRules& rules) {
  return {{"round_bytes", rules.round_bytes},
          {"small_bytes", rules.small_bytes},
          {"small_segment_bytes", rules.small_segment_bytes},
          {"large_request_bytes", rules.large_request_bytes},
          {"large_segment_bytes", rules.large_segment_bytes},
          {"large_round_bytes", rules.large_round_bytes},
          {"expandable_segments", rules.expandable_segments}};
}

}  // namespace

Machine parse_machine(std::string_view text) {
  const json document = base::parse_json_document(text, "lowtide-machine", kVersion);
  const JsonReader in(document, "machine");
  in.require_only({"format", "version", "name", "device_bytes", "tiers", "allocator",
                   "flops_per_second", "memory_bytes_per_second", "op_seconds", "launch_seconds",
                   "watch_seconds", "action_seconds", "most_bytes_in_flight"});
  Machine machine;
  machine.name = in.string("name");
  trace::require_name(machine.name, "machine");
  machine.device_bytes = positive_bytes(in, "device_bytes", 0);
  in.for_each("tiers", [&machine](const JsonReader& tier) {
    const Tier read = read_tier(tier);
    const bool is_known =
        std::any_of(machine.tiers.begin(), machine.tiers.end(),
                    [&read](const Tier& other) { return other.name == read.name; });
    LT_REQUIRE(!is_known, tier.path(), ": two tiers have the name ", read.name);
    machine.tiers.push_back(read);
  });
  LT_REQUIRE(!machine.tiers.empty(), "machine.tiers: expected at least one, the host's memory");
  if (in.has("allocator")) {
    machine.allocator = read_allocator(JsonReader(document["allocator"], "machine.allocator"));
  }
  machine.flops_per_second = speed_if_known(in, "flops_per_second");
  machine.memory_bytes_per_second = speed_if_known(in, "memory_bytes_per_second");
  machine.op_seconds = seconds(in, "op_seconds", 0);
  machine.launch_seconds = seconds(in, "launch_seconds", 0);
  machine.watch_seconds = seconds(in, "watch_seconds", 0);
  machine.action_seconds = seconds(in, "action_seconds", 0);
  machine.most_bytes_in_flight =
      positive_bytes(in, "most_bytes_in_flight", machine.most_bytes_in_flight);
  return machine;
}

std::string print_machine(const Machine& machine) {
  json document{{"format", "lowtide-machine"},
                {"version", kVersion},
                {"name", machine.name},
                {"device_bytes", machine.device_bytes},
                {"tiers", json::array()},
                {"allocator", allocator_json(machine.allocator)},
                {"flops_per_second", machine.flops_per_second},
                {"memory_bytes_per_second", machine.memory_bytes_per_second},
                {"op_seconds", machine.op_seconds},
                {"launch_seconds", machine.launch_seconds},
                {"watch_seconds", machine.watch_seconds},
                {"action_seconds", machine.action_seconds},
                {"most_bytes_in_flight", machine.most_bytes_in_flight}};
  for (const Tier& tier : machine.tiers) document["tiers"].push_back(tier_json(tier));
  return document.dump(1) + "\n";
}

}  // namespace lowtide::cost
