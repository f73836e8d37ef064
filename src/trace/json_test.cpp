// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "trace/json.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "lowtide/errors.h"
#include "trace/text.h"

namespace lowtide::trace {
namespace {

using nlohmann::json;
using testing::HasSubstr;

constexpr std::string_view kEverything =
    "lowtide-trace 1\n"
    "name everything\n"
    "storage w 8 parameter start end layer=body.0\n"
    "storage m 16 state start end pinned\n"
    "storage x 4 input start\n"
    "storage a 4 activation codec=fp8:1:0.5:0.25:lossy codec=zip:2:1e-06:2e-06\n"
    "op conv forward layer=body.0 device=0.1 host=0.001 workspace=64 flops=1000 accessed=77"
    " random option=fast:0.1:0:inexact option=cpu:2:8:host option=uva:3:9:host_reads"
    " : x w ~m -> a ~m\n"
    "op view forward : -> | a x\n"
    "op sum backward once : a -> w free x\n"
    "op step optimizer device=0 : w -> w | w free a\n";

std::string error_of(std::string_view text) {
  try {
    parse_json(text);
  } catch (const InvalidInput& error) {
    return error.what();
  }
  return "no error";
}

TEST(TraceJson, RoundTripsEveryField) {
  const Trace trace = parse_text(kEverything);
  const std::string text = print_json(trace);
  const Trace again = parse_json(text);
  EXPECT_EQ(print_json(again), text);
  // The text form holds every field too, so nothing can have got lost on the way.
  EXPECT_EQ(print_text(again), kEverything);
}

TEST(TraceJson, HasTheFieldsThatTheFormatDescribes) {
  const json document = json::parse(print_json(parse_text(kEverything)));
  EXPECT_EQ(document.at("format"), "lowtide-trace");
  EXPECT_EQ(document.at("version"), 1);
  EXPECT_EQ(document.at("name"), "everything");
  EXPECT_EQ(document.at("storages").at(0).at("layer"), "body.0");
  EXPECT_EQ(document.at("storages").at(1), json::parse(R"({"name": "m", "bytes": 16,
    "kind": "state", "start": true, "end": true, "pinned": true})"));
  EXPECT_EQ(document.at("storages").at(3).at("codecs").at(0), json::parse(R"({"name": "fp8",
    "bytes": 1, "encode_seconds": 0.5, "decode_seconds": 0.25, "lossless": false})"));
  EXPECT_EQ(document.at("ops").at(0), json::parse(R"({"name": "conv", "phase": "forward",
    "layer": "body.0", "device_seconds": 0.1, "host_seconds": 0.001, "workspace_bytes": 64,
    "flops": 1000, "accessed_bytes": 77, "random": true, "reads": [2, 0], "side_reads": [1],
    "writes": [3], "side_writes": [1], "options": [
      {"name": "fast", "seconds": 0.1, "workspace_bytes": 0, "bit_exact": false,
       "on_host": false, "reads_host": false},
      {"name": "cpu", "seconds": 2.0, "workspace_bytes": 8, "bit_exact": true,
       "on_host": true, "reads_host": false},
      {"name": "uva", "seconds": 3.0, "workspace_bytes": 9, "bit_exact": true,
       "on_host": false, "reads_host": true}]})"));
  EXPECT_EQ(document.at("ops").at(2), json::parse(R"({"name": "sum", "phase": "backward",
    "reads": [3], "writes": [0], "frees": [2], "replayable": false})"));
  EXPECT_EQ(document.at("ops").at(3).at("views"), json::parse("[0]"));
}

TEST(TraceJson, NeedsNoFieldThatHasADefault) {
  const Trace trace = parse_json(R"({"format": "lowtide-trace", "version": 1, "name": "t",
    "storages": [{"name": "a", "bytes": 1, "kind": "temporary"}],
    "ops": [{"name": "f", "phase": "other", "writes": [0],
             "options": [{"name": "o", "seconds": 1, "workspace_bytes": 0}]}]})");
  const Op& op = trace.ops().at(0);
  EXPECT_TRUE(op.replayable);
  EXPECT_FALSE(op.random || op.in_place);
  EXPECT_FALSE(op.device_seconds || op.host_seconds);
  EXPECT_TRUE(op.options.at(0).bit_exact);
  EXPECT_EQ(trace.storages().at(0).freed_after, OpId{0});
}

TEST(TraceJson, NamesThePathAndTheFault) {
  const std::string head = R"({"format": "lowtide-trace", "version": 1, "name": "t", )";
  const std::string one = R"("storages": [{"name": "a", "bytes": 1, "kind": "input"}], )";
  const std::pair<std::string, const char*> cases[] = {
      {"{", "not valid JSON"},
      {R"({"format": "lowtide-plan", "version": 1})", "found \"lowtide-plan\""},
      {R"({"format": "lowtide-trace", "version": 1})", "trace.name: expected this field"},
      {head + R"("storages": 5})", "trace.storages: expected a list"},
      {head + R"("storages": [5]})", "trace.storages[0]: expected an object"},
      {head + R"("storages": [{"name": "a"}]})", "trace.storages[0].bytes: expected this field"},
      {head + R"("storages": [{"name": "a", "bytes": 0.5, "kind": "input"}]})",
       "trace.storages[0].bytes: expected a whole number"},
      {head + R"("storages": [{"name": "a", "bytes": 1, "kind": "thing"}]})",
       "trace.storages[0]: unknown kind of storage 'thing'"},
      {head + R"("storages": [{"name": "a", "bytes": -1, "kind": "input"}]})",
       "trace.storages[0]: size out of range"},
      {head + R"("storages": [{"name": "a b", "bytes": 1, "kind": "input"}]})",
       "trace.storages[0]: not a valid storage name: 'a b'"},
      {head + R"("storages": [{"name": "a", "bytes": 1, "kind": "input", "codecs": [{}]}]})",
       "trace.storages[0].codecs[0].name: expected this field"},
      {head + one + R"("ops": [{"name": "f"}]})", "trace.ops[0].phase: expected this field"},
      {head + one + R"("ops": [{"name": "f", "phase": "x"}]})", "trace.ops[0]: unknown phase 'x'"},
      {head + one + R"("ops": [{"name": "f", "phase": "other", "reads": [0]}]})",
       "trace.ops[0]: op f reads storage a before"},
      {head + one + R"("ops": [{"name": "f", "phase": "other", "writes": [1]}]})",
       "trace.ops[0]: op f names a storage that does not exist"},
      {head + one + R"("ops": [{"name": "f", "phase": "other", "views": [-1]}]})",
       "trace.ops[0]: no storage -1"},
      {head + one + R"("ops": [{"name": "f", "phase": "other", "frees": ["a"]}]})",
       "trace.ops[0].frees: expected a list of whole numbers"},
      {head + one + R"("ops": [{"name": "f", "phase": "other", "options": [{"name": "o"}]}]})",
       "trace.ops[0].options[0].seconds: expected this field"},
      {head + one + R"("ops": []})", "storage a is never written"},
      {head + R"("storages": [{"name": "a", "bytes": 1, "kind": "input", "start": true},
                              {"name": "a", "bytes": 1, "kind": "input", "start": true}]})",
       "two storages have the name a"},
  };
  for (const auto& [text, message] : cases) EXPECT_THAT(error_of(text), HasSubstr(message)) << text;
}

TEST(ParseAny, TellsTheFormsApart) {
  const Trace trace = parse_text(kEverything);
  EXPECT_EQ(print_text(parse_any(kEverything)), kEverything);
  EXPECT_EQ(print_text(parse_any("\n " + print_json(trace))), kEverything);
  EXPECT_THROW(parse_any(" \n"), InvalidInput);
  EXPECT_THROW(parse_any("[]"), InvalidInput);
}

}  // namespace
}  // namespace lowtide::trace
