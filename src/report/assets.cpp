// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "report/assets.h"

#include <cstdint>

// The assembler finds the files by the folder that CMakeLists.txt gives it, and CMake tells what
// their hashes are: LT_REPORT_JS_SHA256 and LT_REPORT_CSS_SHA256.
#define LT_EMBED(name, file)                                 \
  asm(".pushsection .rodata\n"                               \
      ".global lt_" #name "_begin\n.global lt_" #name        \
      "_end\n"                                               \
      "lt_" #name "_begin:\n.incbin \"" file "\"\nlt_" #name \
      "_end:\n"                                              \
      ".byte 0\n.popsection\n");                             \
  extern "C" const char lt_##name##_begin[];                 \
  extern "C" const char lt_##name##_end[]

LT_EMBED(report_script, "report.js");
LT_EMBED(report_style, "report.css");

namespace lowtide::report {
namespace {

unsigned digit_of(char c) {
  return static_cast<unsigned>(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
}

}  // namespace

std::string_view script() { return {lt_report_script_begin, lt_report_script_end}; }
std::string_view style() { return {lt_report_style_begin, lt_report_style_end}; }

std::string script_hash() { return "sha256-" + base64_of_hex(LT_REPORT_JS_SHA256); }
std::string style_hash() { return "sha256-" + base64_of_hex(LT_REPORT_CSS_SHA256); }

std::string base64_of_hex(std::string_view hex) {
  constexpr std::string_view kLetters =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  // Three bytes are six digits here and four letters there.
  for (std::size_t i = 0; i < hex.size(); i += 6) {
    const std::string_view part = hex.substr(i, 6);
    std::uint32_t bits = 0;
    for (std::size_t k = 0; k < 6; ++k)
      bits = bits << 4U | (k < part.size() ? digit_of(part[k]) : 0);
    const std::size_t letters = part.size() / 2 + 1;
    for (std::size_t k = 0; k < 4; ++k) {
      text += k < letters ? kLetters[bits >> (18 - 6 * k) & 63U] : '=';
    }
  }
  return text;
}

}  // namespace lowtide::report
