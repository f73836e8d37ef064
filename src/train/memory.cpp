// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "train/memory.h"

#include "base/bytes.h"
#include "base/check.h"

namespace lowtide::train {
namespace {

bool is_small(std::int64_t budget_bytes, const std::string& device) {
  return budget_bytes > 0 && budget_bytes < kLeastReservedBudgetBytes && device.starts_with("cuda");
}

Means means_of(const MemoryOptions& memory) {
  if (memory.tiers == "none") {
    LT_REQUIRE(memory.may_recompute,
               "--tiers none and --no-recompute exclude each other: nothing could be evicted");
    return Means::kRecompute;
  }
  LT_REQUIRE(memory.tiers == "host" || memory.tiers == "host,disk", "unknown tiers '", memory.tiers,
             "'; known are none, host and host,disk");
  return memory.may_recompute ? Means::kMixed : Means::kHost;
}

}  // namespace

bool is_share(const std::string& budget) { return budget.ends_with('%'); }

SessionStats take_first_steps(const SessionOptions& inside, const TrainingOptions& options,
                              const std::shared_ptr<const zoo::DataSet>& data,
                              const std::function<bool()>& is_stopped) {
  Session session(inside);
  Training training(options, data);
  for (int i = 0; i < kFirstSteps && !is_stopped(); ++i) {
    session.step([&] { training.step(); });
  }
  return session.stats();
}

std::int64_t measure_plain_peak(const TrainingOptions& options,
                                const std::shared_ptr<const zoo::DataSet>& data,
                                const std::function<bool()>& is_stopped) {
  return take_first_steps({.device = options.device}, options, data, is_stopped).peak_bytes;
}

std::string note_on_budget(std::int64_t budget_bytes, const std::string& device) {
  if (!is_small(budget_bytes, device)) return "";
  return base::concat("the budget is below ", base::format_bytes(kLeastReservedBudgetBytes),
                      ": it caps what torch's allocator hands out, not what that takes from the "
                      "GPU");
}

SessionOptions session_options(const MemoryOptions& memory, std::int64_t budget_bytes,
                               const std::string& device) {
  const Means means = means_of(memory);
  LT_REQUIRE(memory.tiers != "host,disk" || !memory.spill_dir.empty(),
             "--tiers host,disk needs a folder on that disk; add --spill-dir");
  LT_REQUIRE(memory.tiers != "none" || memory.spill_dir.empty(),
             "--tiers none and --spill-dir exclude each other; leave one of them out");
  LT_REQUIRE(memory.tiers != "none" || memory.host_cap.empty(),
             "--tiers none and --host-cap exclude each other; leave one of them out");
  if (!memory.host_cap.empty()) {
    LT_REQUIRE(base::parse_bytes(memory.host_cap) > 0,
               "--host-cap of nothing leaves no room to move values; say --tiers none for that");
  }
  return {.budget = budget_bytes == 0 ? "" : std::to_string(budget_bytes),
          .device = device,
          .means = means,
          .policy = memory.policy,
          .host_cap = memory.host_cap,
          .spill_dir = memory.spill_dir,
          .cap_reserved = !is_small(budget_bytes, device)};
}

}  // namespace lowtide::train
