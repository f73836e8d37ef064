// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "report/page.h"

#include "base/check.h"
#include "base/markup.h"
#include "report/assets.h"
#include "report/names.h"
#include "report/page_data.h"

namespace lowtide::report {
namespace {

// Halving more often leaves nothing to look at.
constexpr int kMostHalvings = 6;

std::string head_of(const std::string& title) {
  return base::concat(
      "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n",
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src '",
      style_hash(), "'; script-src '", script_hash(), "'; base-uri 'none'; form-action 'none'\">\n",
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n",
      "<meta name=\"color-scheme\" content=\"light dark\">\n", "<title>",
      base::markup_escaped(shortened(title, kLongestText)), " - Lowtide report</title>\n<style>",
      style(), "</style></head>\n");
}

std::string page_with(const Findings& findings, const PageDetail& detail) {
  // Names come from outside: what is no UTF-8 is replaced.
  const std::string data =
      page_data(findings, detail).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  return base::concat(head_of(findings.study.record.title),
                      "<body><noscript>This report is drawn by the script inside it; "
                      "please allow scripts for this file.</noscript>\n<div id=\"report\"></div>\n",
                      "<script type=\"application/json\" id=\"data\">", script_escaped(data),
                      "</script>\n<script>", script(), "</script></body></html>\n");
}

}  // namespace

std::string script_escaped(std::string_view json_text) {
  std::string escaped;
  escaped.reserve(json_text.size());
  for (const char c : json_text) {
    switch (c) {
      case '<':
        escaped += "\\u003c";
        break;
      case '>':
        escaped += "\\u003e";
        break;
      case '&':
        escaped += "\\u0026";
        break;
      default:
        escaped += c;
    }
  }
  return escaped;
}

std::string page(const Findings& findings) {
  PageDetail detail;
  std::string text = page_with(findings, detail);
  for (int i = 0; i < kMostHalvings && text.size() > kLargestPage; ++i) {
    detail = detail.halved();
    text = page_with(findings, detail);
  }
  LT_CHECK(text.size() <= kLargestPage, "the report takes ", text.size(), " bytes");
  return text;
}

std::string page_of(const RunRecord& record, double think_seconds) {
  return page(find_out(record, think_seconds));
}

}  // namespace lowtide::report
