// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "policy/option_reader.h"

#include <gtest/gtest.h>

#include "lowtide/errors.h"

namespace lowtide::policy {
namespace {

enum class Colour { kRed, kBlue };

Colour read_colour(OptionReader& reader) {
  return reader.choice<Colour>("colour", Colour::kBlue,
                               {{"red", Colour::kRed}, {"blue", Colour::kBlue}});
}

TEST(OptionReader, WhatIsNotGivenHasItsDefault) {
  const PolicyOptions none;
  OptionReader reader("p", none);
  EXPECT_EQ(reader.number("share", 0.25, 0, 1), 0.25);
  EXPECT_EQ(reader.integer("depth", 4, 1, 9), 4);
  EXPECT_EQ(read_colour(reader), Colour::kBlue);
  EXPECT_NO_THROW(reader.finish());
}

TEST(OptionReader, WhatIsGivenIsReadUpToItsLimits) {
  const PolicyOptions options{{"share", "1"}, {"depth", "9"}, {"colour", "red"}};
  OptionReader reader("p", options);
  EXPECT_EQ(reader.number("share", 0.25, 0, 1), 1);
  EXPECT_EQ(reader.integer("depth", 4, 1, 9), 9);
  EXPECT_EQ(read_colour(reader), Colour::kRed);
  EXPECT_NO_THROW(reader.finish());
}

struct BadValue {
  PolicyOptions options;
  const char* message;
};

TEST(OptionReader, ABadValueIsRefusedWithWhatTheOptionTakes) {
  const BadValue cases[] = {
      {{{"share", "1.5"}}, "option share of policy p takes a number from 0 to 1, not '1.5'"},
      {{{"share", "much"}}, "option share of policy p takes a number from 0 to 1, not 'much'"},
      {{{"share", "nan"}}, "option share of policy p takes a number from 0 to 1, not 'nan'"},
      {{{"share", ""}}, "option share of policy p takes a number from 0 to 1, not ''"},
      {{{"depth", "0"}}, "option depth of policy p takes a whole number from 1 to 9, not '0'"},
      {{{"depth", "2.5"}}, "option depth of policy p takes a whole number from 1 to 9, not '2.5'"},
      {{{"colour", "green"}}, "option colour of policy p takes one of red, blue, not 'green'"},
  };
  for (const BadValue& c : cases) {
    OptionReader reader("p", c.options);
    try {
      reader.number("share", 0.25, 0, 1);
      reader.integer("depth", 4, 1, 9);
      read_colour(reader);
      ADD_FAILURE() << "not refused: " << c.message;
    } catch (const InvalidInput& error) {
      EXPECT_STREQ(error.what(), c.message);
    }
  }
}

TEST(OptionReader, AnUnknownOptionIsRefusedWithTheKnownOnes) {
  const PolicyOptions options{{"depht", "3"}};
  OptionReader reader("p", options);
  reader.integer("depth", 4, 1, 9);
  reader.number("share", 0.25, 0, 1);
  try {
    reader.finish();
    ADD_FAILURE() << "not refused";
  } catch (const InvalidInput& error) {
    EXPECT_STREQ(error.what(), "policy p has no option 'depht'; it has depth, share");
  }
  EXPECT_THROW(OptionReader("p", options).finish(), InvalidInput);
}

}  // namespace
}  // namespace lowtide::policy
