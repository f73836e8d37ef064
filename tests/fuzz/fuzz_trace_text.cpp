// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "fuzzing.h"
#include "trace/json.h"
#include "trace/lifetimes.h"
#include "trace/text.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace lowtide;
  const auto found = fuzz::accepted(trace::parse_text, fuzz::text_of(data, size));
  if (!found) return 0;
  fuzz::require_fixed_point(*found, trace::parse_text, trace::print_text);
  fuzz::require(
      trace::print_text(trace::parse_json(trace::print_json(*found))) == trace::print_text(*found),
      "the JSON form holds what the text form holds");
  trace::Lifetimes lifetimes(*found);
  return 0;
}
