// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "plan/text.h"
#include "plan_fuzzing.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lowtide;
  fuzz::check_plan(fuzz::text_of(data, size), plan::parse_text, plan::print_text);
  return 0;
}
