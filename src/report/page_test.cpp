// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "report/page.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "report/assets.h"
#include "report/names.h"
#include "report/page_data.h"
#include "report/step_csv.h"
#include "report/test_run.h"

namespace lowtide::report {
namespace {

using nlohmann::json;
using testing::HasSubstr;

constexpr std::string_view kMove = "move a.0 host after 1\nfetch a.0 issue 3 need 4\n";

json data_of(const std::string& page) {
  const std::string open = "<script type=\"application/json\" id=\"data\">";
  const std::size_t start = page.find(open) + open.size();
  return json::parse(page.substr(start, page.find("</script>", start) - start));
}

std::size_t count_of(const std::string& text, std::string_view part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) {
    ++count;
  }
  return count;
}

TEST(Page, HoldsStylesScriptAndDataAndLoadsNothing) {
  const RunRecord record = test_record(kIdleStep, kMove, 20);
  const std::string text = page_of(record, 0.5);
  EXPECT_THAT(text, HasSubstr("<title>a test - Lowtide report</title>"));
  EXPECT_THAT(text, HasSubstr("default-src 'none'; style-src '" + style_hash() + "'"));
  EXPECT_THAT(text, HasSubstr("script-src '" + script_hash() + "'"));
  EXPECT_EQ(count_of(text, "<script"), 2U);
  EXPECT_EQ(text.find("src="), std::string::npos);
  EXPECT_EQ(text.find("unsafe-inline"), std::string::npos);
  const json data = data_of(text);
  EXPECT_EQ(data.at("head").at("basis"), "carried_out");
  EXPECT_EQ(data.at("planned").at("us"), 23e6);
  EXPECT_EQ(data.at("planned").at("links").size(), 2U);
  EXPECT_EQ(data.at("plain").at("memory").at("start").size(), 6U) << "five ops and the end";
}

TEST(Page, SaysThatAPredictionIsOne) {
  const RunRecord record = test_record(kIdleStep, {}, 16);
  EXPECT_EQ(data_of(page_of(record, 0.5)).at("head").at("basis"), "predicted");
}

TEST(Page, WritesHostileNamesAsTextOnly) {
  const std::string hostile = "</script><img src=x onerror=alert(1)>&\"'";
  RunRecord record = test_record(kIdleStep, kMove, 20);
  record.title = hostile;
  record.device = hostile;
  record.statistics = {{hostile, hostile}};
  const std::string text = page_of(record, 0.5);
  EXPECT_EQ(count_of(text, "</script>"), 2U);
  EXPECT_EQ(text.find("<img"), std::string::npos);
  EXPECT_EQ(data_of(text).at("head").at("title"), hostile) << "and loses nothing";
}

// A step as long as no real one: the page stays small, and the peak stays in it.
TEST(Page, OfAVeryLongStepIsStillSmall) {
  std::string step = "storage x 1 input start end\nstorage big 5000 activation\n";
  constexpr int kOps = 20000;
  for (int i = 0; i < kOps; ++i) step += "storage s" + std::to_string(i) + " 3000 activation\n";
  for (int i = 0; i < kOps; ++i) {
    step += "op a_rather_long_name_of_an_op_" + std::to_string(i) + " forward layer=block." +
            std::to_string(i) + ".attention : x -> s" + std::to_string(i) +
            (i == kOps / 2 ? " big" : "") + "\n";
  }
  const RunRecord record = test_record(step);
  const std::string text = page_of(record, 0.5);
  EXPECT_LT(text.size(), kLargestPage);
  const json data = data_of(text);
  const json& activations = data.at("plain").at("memory").at("kinds")[4];
  std::int64_t most = 0;
  for (const json& bytes : activations) most = std::max(most, bytes.get<std::int64_t>());
  EXPECT_EQ(most, data.at("plain").at("peakBytes").get<std::int64_t>() - 1) << "but for x";
}

// A record may come from anywhere: what is too long to be read is cut, not refused.
TEST(Page, OfARecordWithTextsWithoutEndIsStillSmall) {
  const std::string endless(2 * kLargestPage, 'x');
  RunRecord record = test_record(kIdleStep, kMove, 20);
  record.title = record.device = record.policy = record.machine.name = record.plan->policy =
      endless;
  record.statistics = {{endless, 1}, {"disk_io", endless}};
  for (int i = 0; i < 100000; ++i) record.statistics["figure_" + std::to_string(i)] = i;
  EXPECT_LT(page_of(record, 0.5).size(), kLargestPage);
}

TEST(PageText, IsEscaped) {
  EXPECT_EQ(script_escaped("</script>&"), "\\u003c/script\\u003e\\u0026");
}

TEST(Assets, HashesAreThoseOfSha256InBase64) {
  EXPECT_EQ(base64_of_hex(""), "");
  EXPECT_EQ(base64_of_hex("4d616e"), "TWFu");
  EXPECT_EQ(base64_of_hex("4d61"), "TWE=");
  EXPECT_EQ(base64_of_hex("4D"), "TQ==");
  EXPECT_EQ(script_hash().size(), std::string("sha256-").size() + 44);
}

TEST(Names, AreKeptOnceAndCutWhereACharacterEnds) {
  const RunRecord record = test_record();
  Names names(*record.trace);
  EXPECT_EQ(names.text("one"), names.text("one"));
  std::string umlauts;
  for (int i = 0; i < 100; ++i) umlauts += "\xc3\xa4";
  const std::string cut = names.texts()[static_cast<std::size_t>(names.text("x" + umlauts))];
  EXPECT_LT(cut.size(), umlauts.size());
  EXPECT_NO_THROW(json(cut).dump()) << "half a character is no UTF-8";
}

TEST(StepCsv, HasALineForEachOpBeforeAndAfter) {
  const RunRecord record = test_record(kIdleStep, kMove, 20);
  const std::string text = step_csv(study(record, 0.5));
  EXPECT_EQ(count_of(text, "\n"), 11U);
  EXPECT_THAT(text,
              HasSubstr("step,op,name,layer,phase,start_seconds,end_seconds,parameter_bytes"));
  EXPECT_THAT(text, HasSubstr("plain,3,f3,third,forward,12,22,2,0,0,0,11,0,7,20,0\n"));
  EXPECT_THAT(text, HasSubstr("planned,2,f2,second,forward,2,12,2,0,0,0,9,0,0,11,4\n"));
}

}  // namespace
}  // namespace lowtide::report
