// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "session/run_record.h"

#include "trace/names.h"

namespace lowtide::session {

nlohmann::json statistics_json(const SessionStats& stats) {
  return {{"budget_bytes", stats.budget_bytes},
          {"held_bytes", stats.held_bytes},
          {"peak_bytes", stats.peak_bytes},
          {"reserved_peak_bytes", stats.reserved_peak_bytes},
          {"stitches", stats.stitches},
          {"relocations", stats.relocations},
          {"shortages", stats.shortages},
          {"host_bytes", stats.host_bytes},
          {"host_peak_bytes", stats.host_peak_bytes},
          {"steps", stats.steps},
          {"steps_aside", stats.steps_aside},
          {"overflow_bytes", stats.overflow_bytes},
          {"ops", stats.ops},
          {"evictions", stats.evictions},
          {"drops", stats.drops},
          {"moves", stats.moves},
          {"recomputes", stats.recomputes},
          {"recompute_seconds", stats.recompute_seconds},
          {"bytes_to_host", stats.bytes_to_host},
          {"bytes_from_host", stats.bytes_from_host},
          {"spill_bytes", stats.spill_bytes},
          {"spill_peak_bytes", stats.spill_peak_bytes},
          {"bytes_to_disk", stats.bytes_to_disk},
          {"bytes_from_disk", stats.bytes_from_disk},
          {"disk_write_seconds", stats.disk_write_seconds},
          {"disk_read_seconds", stats.disk_read_seconds},
          {"disk_wait_seconds", stats.disk_wait_seconds},
          {"disk_write_errors", stats.disk_write_errors},
          {"disk_read_errors", stats.disk_read_errors},
          {"disk_values_recomputed", stats.disk_values_recomputed},
          {"disk_io", stats.disk_io},
          {"records", stats.records},
          {"record_held_bytes", stats.record_held_bytes},
          {"kept_unsafe", stats.kept_unsafe},
          {"chunked_ops", stats.chunked_ops},
          {"guided_steps", stats.guided_steps},
          {"guidance_broken_off", stats.guidance_broken_off},
          {"prefetches", stats.prefetches},
          {"actions_skipped", stats.actions_skipped},
          {"plans", stats.plans},
          {"plans_dropped", stats.plans_dropped},
          {"stall_seconds", stats.stall_seconds},
          {"fetches_hurried", stats.fetches_hurried},
          {"plan_seconds", stats.plan_seconds},
          {"predicted_step_seconds", stats.predicted_step_seconds},
          {"predicted_peak_bytes", stats.predicted_peak_bytes},
          {"no_plan_reason", stats.no_plan_reason}};
}

std::string machine_name(std::string device_name) {
  for (char& c : device_name) {
    if (!trace::is_name(std::string(1, c))) c = '_';
  }
  return trace::is_name(device_name) ? device_name : "recorded";
}

}  // namespace lowtide::session
