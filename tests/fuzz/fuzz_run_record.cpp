// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "fuzzing.h"
#include "report/run_record.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lowtide;
  const auto found = fuzz::accepted(report::parse_run_record, fuzz::text_of(data, size));
  if (found) fuzz::require_fixed_point(*found, report::parse_run_record, report::print_run_record);
  return 0;
}
