// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "solve/milp.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include <gtest/gtest.h>

#include "base/random.h"

namespace lowtide::solve {
namespace {

constexpr double kNoBound = std::numeric_limits<double>::infinity();

class Milp : public testing::Test {
 protected:
  void SetUp() override {
    if (!has_milp_solver()) GTEST_SKIP() << no_milp_solver();
  }
};

// What fits into a bag, by trying all.
double best_by_trying(const std::vector<double>& worth, const std::vector<double>& weight,
                      double room) {
  double best = 0;
  for (std::uint32_t set = 0; set < (1U << worth.size()); ++set) {
    double sum = 0;
    double taken = 0;
    for (std::size_t i = 0; i < worth.size(); ++i) {
      if (((set >> i) & 1U) == 0) continue;
      sum += worth[i];
      taken += weight[i];
    }
    if (taken <= room) best = std::max(best, sum);
  }
  return best;
}

struct Bag {
  LinearProgram program;
  std::vector<double> worth;
  std::vector<double> weight;
  double room = 0;
};

Bag random_bag(std::uint64_t seed, std::size_t things) {
  base::Random random(seed);
  Bag bag;
  std::vector<LinearProgram::Term> terms;
  for (std::size_t i = 0; i < things; ++i) {
    bag.worth.push_back(1 + static_cast<double>(random.below(40)));
    bag.weight.push_back(1 + static_cast<double>(random.below(40)));
    terms.push_back({bag.program.add_binary(-bag.worth.back()), bag.weight.back()});
    bag.room += bag.weight.back();
  }
  bag.room = std::floor(bag.room / 3);
  bag.program.at_most(bag.room, terms);
  return bag;
}

TEST_F(Milp, FillsABagAsTryingAllDoes) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    const Bag bag = random_bag(seed, 12);
    const MilpAnswer answer = solve_milp(bag.program, {});
    ASSERT_EQ(answer.status, MilpAnswer::Status::kOptimal) << seed;
    EXPECT_NEAR(-answer.objective, best_by_trying(bag.worth, bag.weight, bag.room), 1e-6) << seed;
    for (const double value : answer.values) EXPECT_NEAR(value, std::round(value), 1e-6);
  }
}

TEST_F(Milp, GivesTheSameAnswerEachTime) {
  const Bag bag = random_bag(3, 30);
  EXPECT_EQ(solve_milp(bag.program, {}).values, solve_milp(bag.program, {}).values);
}

TEST_F(Milp, SaysThatThereIsNoSolution) {
  LinearProgram program;
  const auto x = program.add_binary(1);
  program.at_least(2, {{x, 1}});
  const MilpAnswer answer = solve_milp(program, {});
  EXPECT_EQ(answer.status, MilpAnswer::Status::kInfeasible);
  EXPECT_FALSE(answer.has_solution());
}

TEST_F(Milp, WithoutWholeNumbersItIsALinearProgramme) {
  LinearProgram program;
  const auto x = program.add_column(-1, 0, kNoBound, false);
  const auto y = program.add_column(-2, 0, 3, false);
  program.at_most(4, {{x, 0.5}, {y, 1}, {x, 0.5}});
  const MilpAnswer answer = solve_milp(program, {});
  ASSERT_EQ(answer.status, MilpAnswer::Status::kOptimal);
  EXPECT_NEAR(answer.objective, -7, 1e-9);
  EXPECT_NEAR(answer.values[static_cast<std::size_t>(x)], 1, 1e-9);
}

TEST_F(Milp, StopsWhenAskedToAndKeepsItsStart) {
  Bag bag = random_bag(5, 12);
  MilpOptions options;
  options.should_stop = [] { return true; };
  options.start.assign(12, 0);
  const MilpAnswer answer = solve_milp(bag.program, options);
  if (answer.status == MilpAnswer::Status::kOptimal) return;  // presolve was enough
  ASSERT_EQ(answer.status, MilpAnswer::Status::kFeasible);
  EXPECT_LE(answer.objective, 0);
}

// Who does what, each with costs of its own: a relaxation of many iterations that gives whole
// numbers by itself, so that the solver would be through with it before it asks anybody.
TEST_F(Milp, ARelaxationThatTakesTooLongIsGivenUpForTheStart) {
  constexpr std::size_t kPeople = 40;
  base::Random random(1);
  LinearProgram program;
  std::vector<std::vector<LinearProgram::Term>> by_thing(kPeople);
  MilpOptions options;
  for (std::size_t i = 0; i < kPeople; ++i) {
    std::vector<LinearProgram::Term> by_person;
    for (std::size_t j = 0; j < kPeople; ++j) {
      const auto x = program.add_binary(1 + static_cast<double>(random.below(1000)));
      by_person.push_back({x, 1});
      by_thing[j].push_back({x, 1});
      options.start.push_back(i == j ? 1 : 0);
    }
    program.add_row(1, 1, by_person);
  }
  for (const auto& terms : by_thing) program.add_row(1, 1, terms);
  options.effort = 10;
  const MilpAnswer cut = solve_milp(program, options);
  EXPECT_EQ(cut.status, MilpAnswer::Status::kFeasible);
  EXPECT_EQ(cut.values, options.start);
  EXPECT_EQ(cut.objective, program.cost_of(options.start));
  options.effort = 100'000;
  const MilpAnswer whole = solve_milp(program, options);
  EXPECT_EQ(whole.status, MilpAnswer::Status::kOptimal);
  EXPECT_LT(whole.objective, cut.objective);
  options.effort = 10;
  options.start.assign(options.start.size(), 0);
  EXPECT_FALSE(solve_milp(program, options).has_solution()) << "nobody does anything in this start";
}

TEST(MilpDoor, SaysWhatToInstall) {
  EXPECT_NE(no_milp_solver().find("highspy"), std::string::npos);
}

}  // namespace
}  // namespace lowtide::solve
