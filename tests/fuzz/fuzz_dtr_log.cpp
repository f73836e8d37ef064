// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "fuzzing.h"
#include "trace/dtr_log.h"
#include "trace/lifetimes.h"
#include "trace/text.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lowtide;
  const auto import = [](std::string_view text) { return trace::import_dtr_log(text, "log"); };
  const auto found = fuzz::accepted(import, fuzz::text_of(data, size));
  if (!found) return 0;
  fuzz::require_fixed_point(*found, trace::parse_text, trace::print_text);
  trace::Lifetimes lifetimes(*found);
  return 0;
}
