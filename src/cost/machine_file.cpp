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

double positive(const JsonReader& in, const char* key) {
  const double number = in.number(key);
  LT_REQUIRE(number > 0, in.path(), ".", key, ": expected more than 0, found ", number);
  return number;
}

double not_negative(const JsonReader& in, const char* key, double fallback) {
  const double number = in.number(key, fallback);
  LT_REQUIRE(number >= 0, in.path(), ".", key, ": expected 0 or more, found ", number);
  return number;
}

std::int64_t positive_bytes(const JsonReader& in, const char* key, std::int64_t fallback) {
  const std::int64_t bytes = in.integer(key, fallback);
  LT_REQUIRE(bytes > 0, in.path(), ".", key, ": expected more than 0 bytes, found ", bytes);
  return bytes;
}

Tier read_tier(const JsonReader& in) {
  Tier tier;
  tier.name = in.string("name");
  trace::require_name(tier.name, "tier");
  tier.capacity_bytes = positive_bytes(in, "capacity_bytes", 0);
  tier.write_bytes_per_second = positive(in, "write_bytes_per_second");
  tier.read_bytes_per_second = positive(in, "read_bytes_per_second");
  tier.latency_seconds = not_negative(in, "latency_seconds", tier.latency_seconds);
  tier.duplex = in.number("duplex", tier.duplex);
  LT_REQUIRE(tier.duplex > 0 && tier.duplex <= 1, in.path(),
             ".duplex: expected a share above 0 and up to 1, found ", tier.duplex);
  tier.copies_beside_work = in.boolean("copies_beside_work", tier.copies_beside_work);
  return tier;
}

AllocatorRules read_allocator(const JsonReader& in) {
  AllocatorRules rules;
  rules.round_bytes = positive_bytes(in, "round_bytes", rules.round_bytes);
  rules.small_bytes = positive_bytes(in, "small_bytes", rules.small_bytes);
  rules.small_segment_bytes = positive_bytes(in, "small_segment_bytes", rules.small_segment_bytes);
  rules.large_request_bytes = positive_bytes(in, "large_request_bytes", rules.large_request_bytes);
  rules.large_segment_bytes = positive_bytes(in, "large_segment_bytes", rules.large_segment_bytes);
  rules.large_round_bytes = positive_bytes(in, "large_round_bytes", rules.large_round_bytes);
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
  // Without a speed the roofline leaves that side out, and op_seconds remains.
  machine.flops_per_second = not_negative(in, "flops_per_second", 0);
  machine.memory_bytes_per_second = not_negative(in, "memory_bytes_per_second", 0);
  machine.op_seconds = not_negative(in, "op_seconds", 0);
  machine.launch_seconds = not_negative(in, "launch_seconds", 0);
  machine.watch_seconds = not_negative(in, "watch_seconds", 0);
  machine.action_seconds = not_negative(in, "action_seconds", 0);
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
