// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "base/json_reader.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lowtide/errors.h"

namespace lowtide::base {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

template <class Function>
std::string error_of(Function function) {
  try {
    function();
  } catch (const InvalidInput& error) {
    return error.what();
  }
  return "no error";
}

TEST(ParseJsonDocument, AcceptsTheRightFormatAndVersion) {
  const json document =
      parse_json_document(R"({"format": "tide", "version": 2, "x": 1})", "tide", 2);
  EXPECT_EQ(document.at("x"), 1);
}

TEST(ParseJsonDocument, SaysWhatIsWrongWithAnyOther) {
  const std::pair<const char*, const char*> cases[] = {
      {"", "not valid JSON"},
      {"{", "not valid JSON"},
      {R"({"format": "tide", "version": 1e999})", "not valid JSON"},
      {"[1]", "tide: expected an object"},
      {R"({"version": 2})", "expected \"format\": \"tide\", found \"\""},
      {R"({"format": "ebb", "version": 2})", "found \"ebb\""},
      {R"({"format": 5, "version": 2})", "tide.format: expected a string"},
      {R"({"format": "tide"})", "tide.version: expected this field, which is missing"},
      {R"({"format": "tide", "version": 3})", "version 3 is not known to this build"},
  };
  for (const auto& [text, message] : cases) {
    EXPECT_THAT(error_of([t = text] { parse_json_document(t, "tide", 2); }), HasSubstr(message));
  }
}

TEST(JsonReader, ReadsFieldsAndFallsBackWhereTheyAreMissing) {
  const json object = json::parse(
      R"({"s": "text", "i": -3, "d": 0.5, "whole": 2, "b": true, "list": [1, 2], "words": ["a", "b"]})");
  const JsonReader in(object, "top");
  EXPECT_EQ(in.string("s"), "text");
  EXPECT_EQ(in.string("none", "other"), "other");
  EXPECT_EQ(in.integer("i"), -3);
  EXPECT_EQ(in.integer("none", 7), 7);
  EXPECT_EQ(in.number("d"), 0.5);
  EXPECT_EQ(in.number("whole"), 2.0);
  EXPECT_EQ(in.number("none", 1.5), 1.5);
  EXPECT_TRUE(in.boolean("b", false));
  EXPECT_TRUE(in.boolean("none", true));
  EXPECT_THAT(in.integers("list"), ElementsAre(1, 2));
  EXPECT_THAT(in.integers("none"), IsEmpty());
  EXPECT_THAT(in.strings("words"), ElementsAre("a", "b"));
  EXPECT_THAT(in.strings("none"), IsEmpty());
  EXPECT_TRUE(in.has("s"));
  EXPECT_FALSE(in.has("none"));
}

TEST(JsonReader, NamesTheFieldThatIsOfTheWrongSort) {
  const json object = json::parse(
      R"({"s": 1, "i": 1.5, "big": 9223372036854775808, "d": "x", "b": 1, "list": {"a": 1},
          "mixed": [1, "x"], "bigs": [18446744073709551615], "null": null})");
  const JsonReader in(object, "top");
  const std::pair<std::string, const char*> cases[] = {
      {error_of([&] { in.string("s"); }), "top.s: expected a string"},
      {error_of([&] { in.string("null", ""); }), "top.null: expected a string"},
      {error_of([&] { in.string("none"); }), "top.none: expected this field"},
      {error_of([&] { in.integer("i"); }), "top.i: expected a whole number"},
      {error_of([&] { in.integer("big"); }), "top.big: expected a whole number"},
      {error_of([&] { in.integer("none"); }), "top.none: expected this field"},
      {error_of([&] { in.number("d"); }), "top.d: expected a number"},
      {error_of([&] { in.boolean("b", false); }), "top.b: expected true or false"},
      {error_of([&] { in.integers("list"); }), "top.list: expected a list of whole numbers"},
      {error_of([&] { in.integers("mixed"); }), "top.mixed: expected a list of whole numbers"},
      {error_of([&] { in.integers("bigs"); }), "top.bigs: expected a list of whole numbers"},
      {error_of([&] { in.strings("d"); }), "top.d: expected a list of strings"},
      {error_of([&] { in.strings("mixed"); }), "top.mixed: expected a list of strings"},
      {error_of([&] { in.for_each("s", [](const JsonReader&) {}); }), "top.s: expected a list"},
  };
  for (const auto& [found, message] : cases) EXPECT_THAT(found, HasSubstr(message));
}

TEST(JsonReader, GivesThePathOfEveryObjectInAList) {
  const json object = json::parse(R"({"ops": [{"name": "a"}, {"name": "b"}, 5]})");
  const JsonReader in(object, "trace");
  std::vector<std::string> seen;
  const std::string error = error_of([&] {
    in.for_each("ops", [&seen](const JsonReader& op) {
      seen.push_back(op.path() + " " + op.string("name"));
    });
  });
  EXPECT_THAT(seen, ElementsAre("trace.ops[0] a", "trace.ops[1] b"));
  EXPECT_EQ(error, "trace.ops[2]: expected an object");
}

TEST(JsonReader, NamesAFieldThatNobodyReads) {
  const json object = json::parse(R"({"bytes": 1, "name": "x"})");
  const JsonReader in(object, "top");
  EXPECT_EQ(error_of([&] { in.require_only({"name", "bytes", "more"}); }), "no error");
  EXPECT_EQ(error_of([&] {
              in.require_only({"name", "byte"});
            }),
            "top: unknown field 'bytes'; did you mean 'byte'?");
}

}  // namespace
}  // namespace lowtide::base
