// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "trace/text.h"

#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lowtide/errors.h"

namespace lowtide::trace {
namespace {

using testing::HasSubstr;

// Every word of the format once, laid out as print_text lays it out.
constexpr std::string_view kEverything =
    "lowtide-trace 1\n"
    "name everything\n"
    "storage w 8 parameter start end layer=body.0\n"
    "storage g 8 gradient end\n"
    "storage m 16 state start end pinned\n"
    "storage x 4 input start\n"
    "storage a 4 activation codec=fp8:1:0.5:0.25:lossy codec=zip:2:1e-06:2e-06\n"
    "storage t 0 temporary\n"
    "storage k 2 workspace\n"
    "op conv forward layer=body.0 device=0.125 host=0.001 workspace=64 flops=1000 accessed=77"
    " random option=fast:0.1:0:inexact option=cpu:2:8:host option=uva:3:9:host_reads"
    " : x w ~m -> a ~m\n"
    "op view forward : -> | a x\n"
    "op sum backward once : a -> g t k\n"
    "op nothing other : -> free t\n"
    "op step optimizer device=0 : g w -> w | g free a\n";

std::string error_of(std::string_view text) {
  try {
    parse_text(text);
  } catch (const InvalidInput& error) {
    return error.what();
  }
  return "no error";
}

TEST(TraceText, PrintsWhatItParsedForEveryWordOfTheFormat) {
  EXPECT_EQ(print_text(parse_text(kEverything)), kEverything);
}

TEST(TraceText, ReadsEveryFieldOfAStorage) {
  const Trace trace = parse_text(kEverything);
  EXPECT_EQ(trace.name(), "everything");
  ASSERT_EQ(trace.storages().size(), 7U);
  EXPECT_EQ(trace.storages()[0].layer, "body.0");
  const Storage& m = trace.storages()[2];
  EXPECT_EQ(m.name, "m");
  EXPECT_EQ(m.bytes, 16);
  EXPECT_EQ(m.kind, StorageKind::kState);
  EXPECT_TRUE(m.at_start && m.at_end && m.pinned);
  EXPECT_FALSE(m.freed_after.valid());
  const Storage& a = trace.storages()[4];
  EXPECT_FALSE(a.at_start || a.at_end || a.pinned);
  EXPECT_EQ(a.freed_after, OpId{4});
  ASSERT_EQ(a.codecs.size(), 2U);
  EXPECT_EQ(a.codecs[0], (CodecOption{"fp8", 1, 0.5, 0.25, false}));
  EXPECT_EQ(a.codecs[1], (CodecOption{"zip", 2, 1e-6, 2e-6, true}));
}

TEST(TraceText, ReadsEveryFieldOfAnOp) {
  const Trace trace = parse_text(kEverything);
  ASSERT_EQ(trace.ops().size(), 5U);
  const Op& conv = trace.ops()[0];
  EXPECT_EQ(conv.name, "conv");
  EXPECT_EQ(conv.phase, Phase::kForward);
  EXPECT_EQ(conv.layer, "body.0");
  EXPECT_EQ(conv.device_seconds, 0.125);
  EXPECT_EQ(conv.host_seconds, 0.001);
  EXPECT_EQ(conv.workspace_bytes, 64);
  EXPECT_EQ(conv.flops, 1000);
  EXPECT_EQ(conv.accessed_bytes, 77);
  EXPECT_TRUE(conv.random && conv.replayable && conv.in_place);
  ASSERT_EQ(conv.options.size(), 3U);
  EXPECT_EQ(conv.options[0], (Implementation{"fast", 0.1, 0, false, false, false}));
  EXPECT_EQ(conv.options[1], (Implementation{"cpu", 2, 8, true, true, false}));
  EXPECT_EQ(conv.options[2], (Implementation{"uva", 3, 9, true, false, true}));
  ASSERT_EQ(conv.reads.size(), 3U);
  EXPECT_FALSE(conv.reads[1].side_effect);
  EXPECT_TRUE(conv.reads[2].side_effect);
  EXPECT_EQ(trace.value_name(conv.reads[2].value), "m.0");
  ASSERT_EQ(conv.writes.size(), 2U);
  EXPECT_TRUE(conv.writes[1].side_effect);
  EXPECT_EQ(trace.value_name(conv.writes[1].value), "m.1");
  EXPECT_FALSE(trace.ops()[2].replayable);
  EXPECT_EQ(trace.ops()[1].views, (std::vector<StorageId>{{4}, {3}}));
  EXPECT_FALSE(trace.ops()[1].device_seconds);
  EXPECT_EQ(trace.ops()[4].device_seconds, 0.0);
}

TEST(TraceText, AllowsCommentsBlankLinesAndCarriageReturns) {
  const Trace trace = parse_text(
      "# made by hand\r\n\nlowtide-trace 1\r\n  name t # a name\nstorage a 1 input start\n");
  EXPECT_EQ(trace.name(), "t");
  EXPECT_EQ(trace.storages().size(), 1U);
}

TEST(TraceText, ReadsTheExampleOfItsDocument) {
  std::ifstream document(LT_SOURCE_DIR "/docs/trace-format.md");
  std::string line;
  while (std::getline(document, line) && line != "### Example") continue;
  std::string example;
  while (std::getline(document, line) && !line.starts_with("## ")) {
    if (line.starts_with("    ")) example += line.substr(4) + "\n";
  }
  const Trace trace = parse_text(example);
  EXPECT_EQ(print_text(trace), example);
  EXPECT_EQ(trace.values().size(), 7U);
}

struct ErrorCase {
  // Follows the first two lines, so its first line is line 3.
  std::string text;
  std::string message;
};

TEST(TraceText, NamesTheLineAndTheFault) {
  const std::string a = "storage a 1 input start\n";
  const ErrorCase cases[] = {
      {"tensor a", "line 3: expected storage or op, found 'tensor'"},
      {"name again", "line 3: expected one line 'name NAME'"},
      {"storage a 1", "line 3: write: storage NAME BYTES KIND"},
      {"storage a b input", "line 3: not a number for bytes: 'b'"},
      {"storage a -1 input", "line 3: size out of range for storage a: -1"},
      {"storage a 1.5 input", "line 3: not a number for bytes: '1.5'"},
      {"storage a 1 thing", "line 3: unknown kind of storage: 'thing'"},
      {"storage a 1 input first", "line 3: unknown word for a storage: 'first'"},
      {"storage a 1 input codec=zip", "line 3: not a codec: 'zip'"},
      {"storage a 1 input codec=z:1:1:1:lossless", "line 3: not a codec"},
      {"storage a 1 input codec=z:1:x:1", "line 3: not a number for encode seconds: 'x'"},
      {"storage a 1 input codec=z:1:1:-1", "line 3: time out of range for codec z of storage a"},
      {"storage a 1 input codec=z:1:1:1 codec=z:2:1:1", "storage a has two of the name z"},
      {"storage a:b 1 input", "line 3: not a valid storage name: 'a:b'"},
      {"storage free 1 input", "line 3: not a valid storage name: 'free'"},
      {"storage -a 1 input", "line 3: not a valid storage name: '-a'"},
      {a + "storage a 1 input", "line 4: two storages have the name a"},
      {"op f", "line 3: write: op NAME PHASE"},
      {"op f middle : ->", "line 3: unknown phase: 'middle'"},
      {"op f forward", "line 3: an op needs ' : READS -> WRITES'"},
      {"op f forward :", "line 3: an op needs '->'"},
      {"op f forward twice : ->", "line 3: unknown word for an op: 'twice'"},
      {"op f forward size=3 : ->", "line 3: unknown attribute of an op: 'size'"},
      {"op f forward device=fast : ->", "line 3: not a number for device: 'fast'"},
      {"op f forward device=-1 : ->", "line 3: time out of range for op f: -1"},
      {"op f forward device=nan : ->", "line 3: not a number for device: 'nan'"},
      {"op f forward host=1e10 : ->", "line 3: time out of range for op f"},
      {"op f forward flops=-1 : ->", "line 3: negative flops of op f"},
      {"op f forward workspace=-1 : ->", "line 3: size out of range for workspace of op f"},
      {"op f forward accessed=-1 : ->", "line 3: size out of range for accessed bytes of op f"},
      {"storage a 1 input start layer=a|b", "line 3: not a valid layer name: 'a|b'"},
      {"op f forward layer=a|b : ->", "line 3: not a valid layer name: 'a|b'"},
      {"op f forward option=a:1 : ->", "line 3: not an option: 'a:1'"},
      {"op f forward option=a:1:0:odd : ->", "line 3: unknown word in option: 'odd'"},
      {"op f forward option=a:1:0:host:host_reads : ->", "line 3: option a of op f runs either"},
      {"op f forward option=a:1:0 option=a:2:0 : ->", "line 3: op f has two of the name a"},
      {"op f forward : b ->", "line 3: unknown storage: 'b'"},
      {a + "op f forward : -> a -> a", "line 4: '->' stands twice or too late"},
      {a + "op f forward : | a -> a", "line 4: '|' must follow the writes"},
      {a + "op f forward : free a -> a", "line 4: 'free' must come last"},
      {a + "op f forward : -> | ~a", "line 4: unknown storage: '~a'"},
      {a + "op f forward : a a ->", "line 4: op f names the same storage twice"},
      {a + "op f forward : -> a ~a", "line 4: op f names the same storage twice"},
      {"storage b 1 temporary\nop f forward : b ->", "line 4: op f reads storage b before"},
      {a + "op f forward : -> free a\nop g forward : a ->",
       "line 5: op g uses storage a after it was freed"},
      {"storage a 1 input start end\nop f forward : -> free a",
       "line 4: op f frees storage a, which is said to exist at the end"},
  };
  for (const ErrorCase& c : cases) {
    EXPECT_THAT(error_of("lowtide-trace 1\nname t\n" + c.text), HasSubstr(c.message)) << c.text;
  }
}

TEST(TraceText, WantsItsHeaderFirstAndAName) {
  const ErrorCase cases[] = {
      {"", "not a trace: the first line must be 'lowtide-trace 1'"},
      {"# nothing", "not a trace"},
      {"name t", "line 1: not a trace"},
      {"lowtide-plan 1", "line 1: not a trace"},
      {"lowtide-trace 2", "line 1: trace version 2 is not known to this build"},
      {"lowtide-trace 1", "the trace has no name"},
      {"lowtide-trace 1\nstorage a 1 input", "line 2: expected a line 'name NAME' first"},
      {"lowtide-trace 1\nname a b", "line 2: expected one line 'name NAME'"},
      {"lowtide-trace 1\nname a=b", "line 2: not a valid trace name: 'a=b'"},
  };
  for (const ErrorCase& c : cases) EXPECT_THAT(error_of(c.text), HasSubstr(c.message)) << c.text;
}

TEST(TraceText, TellsItselfFromOtherText) {
  EXPECT_TRUE(looks_like_text("# comment\n\nlowtide-trace 9\n"));
  EXPECT_FALSE(looks_like_text("{\"format\": \"lowtide-trace\"}"));
  EXPECT_FALSE(looks_like_text("name lowtide-trace\nlowtide-trace 1\n"));
  EXPECT_FALSE(looks_like_text(""));
}

}  // namespace
}  // namespace lowtide::trace
