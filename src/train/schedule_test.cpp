// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "train/schedule.h"

#include <gtest/gtest.h>

#include "lowtide/errors.h"

namespace lowtide::train {
namespace {

struct Case {
  const char* name;
  std::int64_t step;
  double rate;
};

TEST(Schedule, IsAsAskedForAndElseAsBefore) {
  const Schedule before = {.kind = Schedule::Kind::kCosine, .rate = 0.1, .warm_up_steps = 3};
  EXPECT_EQ(differences(with({}, before), before), "");
  const Schedule other = with({.kind = Schedule::Kind::kStep, .rate = 0.25}, before);
  EXPECT_EQ(other.warm_up_steps, 3);
  EXPECT_EQ(differences(other, before),
            "--lr 0.25 instead of 0.1, --schedule step instead of cosine");
  EXPECT_EQ(differences(with({.warm_up_steps = 0}, before), before), "--warmup 0 instead of 3");
}

TEST(Schedule, NamesGoBothWays) {
  for (const char* name : {"constant", "cosine", "step"}) {
    EXPECT_EQ(name_of(parse_schedule(name)), name);
  }
}

TEST(Schedule, GoesAsItsNameSays) {
  // Four steps of warming up, then eight.
  const Case cases[] = {{"constant", 0, 0.25}, {"constant", 3, 1}, {"constant", 11, 1},
                        {"cosine", 1, 0.5},    {"cosine", 4, 1},   {"cosine", 8, 0.5},
                        {"cosine", 12, 0},     {"step", 4, 1},     {"step", 7, 1},
                        {"step", 8, 0.1},      {"step", 10, 0.01}, {"step", 100, 0.01}};
  for (const Case& test : cases) {
    const Schedule schedule = {parse_schedule(test.name), 1.0, 4, 12};
    EXPECT_NEAR(schedule.rate_at(test.step), test.rate, 1e-12) << test.name << " " << test.step;
  }
}

TEST(Schedule, OfAnUnknownNameIsRefused) { EXPECT_THROW(parse_schedule("linear"), InvalidInput); }

}  // namespace
}  // namespace lowtide::train
