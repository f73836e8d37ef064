// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "base/words.h"

#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lowtide/errors.h"

namespace lowtide::base {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Words = std::vector<std::string_view>;

TEST(SplitWords, SplitsAtRunsOfBlanks) {
  EXPECT_THAT(split_words("op conv\tforward"), ElementsAre("op", "conv", "forward"));
  EXPECT_THAT(split_words("  a   b \r"), ElementsAre("a", "b"));
  EXPECT_THAT(split_words(""), IsEmpty());
  EXPECT_THAT(split_words(" \t"), IsEmpty());
}

TEST(SplitWords, EndsAtAWordThatBeginsWithAHash) {
  EXPECT_THAT(split_words("a # b c"), ElementsAre("a"));
  EXPECT_THAT(split_words("a #b"), ElementsAre("a"));
  EXPECT_THAT(split_words("# a"), IsEmpty());
  EXPECT_THAT(split_words("a#b c"), ElementsAre("a#b", "c"));
}

TEST(SplitOn, KeepsEmptyParts) {
  EXPECT_THAT(split_on("a:b", ':'), ElementsAre("a", "b"));
  EXPECT_THAT(split_on("a::b:", ':'), ElementsAre("a", "", "b", ""));
  EXPECT_THAT(split_on("a", ':'), ElementsAre("a"));
  EXPECT_THAT(split_on("", ':'), ElementsAre(""));
}

TEST(ForEachLine, SkipsLinesWithoutWords) {
  std::vector<std::string> seen;
  for_each_line("one\n\n  # comment\ntwo words\r\nlast",
                [&seen](const Words& words) { seen.emplace_back(words.back()); });
  EXPECT_THAT(seen, ElementsAre("one", "words", "last"));
}

TEST(ForEachLine, PutsTheNumberOfTheLineBeforeAnError) {
  try {
    for_each_line("fine\n\n# comment\nbad\n", [](const Words& words) {
      if (words[0] == "bad") throw InvalidInput("no such word");
    });
    FAIL() << "accepted";
  } catch (const InvalidInput& error) {
    EXPECT_STREQ(error.what(), "line 4: no such word");
  }
}

}  // namespace
}  // namespace lowtide::base
