// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
//
// Every policy of the catalogue whose plans the engine carries out, carried out: plain's bits, the
// cap, and plans that are really followed.
#include <set>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "lowtide/policy.h"
#include "solve/milp.h"
#include "torch/compare.h"
#include "torch/device.h"
#include "torch/training.h"

namespace lowtide::torch_test {
namespace {

constexpr int kSteps = 6;

// Nets of different kinds. Budgets at which most policies plan at least one of them.
const std::vector<std::string>& nets() {
  static const std::vector<std::string> all = {"convolution_unet", "attention_fused_dropout",
                                               "dense_mostly_state"};
  return all;
}
constexpr int kSharesPercent[] = {90, 75};

// Those that have nothing to plan here, and why.
bool plans_nothing_here(const std::string& policy) {
  static const std::set<std::string> all = {
      "keep_all",   // evicts nothing
      "checkmate",  // only for steps that are smaller than these
  };
  return all.count(policy) != 0;
}

std::vector<std::string> executable_policies() {
  std::vector<std::string> names;
  for (const PolicyInfo& info : catalogue()) {
    if (info.executable) names.push_back(info.name);
  }
  return names;
}

class EveryPolicy : public testing::TestWithParam<std::string> {};

TEST_P(EveryPolicy, IsCarriedOutWithPlainsBits) {
  std::int64_t guided_steps = 0;
  std::string reasons;
  for (const std::string& net : nets()) {
    const Program& chosen = program(net);
    LT_SKIP_IF(why_skip(chosen));
    const Reference& wanted = reference(chosen, kSteps);
    for (const int share : kSharesPercent) {
      SCOPED_TRACE(net + " at " + std::to_string(share) + " %");
      const std::int64_t budget = wanted.budget(share);
      SessionOptions options = options_for(budget);
      options.policy = GetParam();
      options.wait_for_plans = true;
      const auto found = run_feasibly(chosen, options, budget, wanted);
      ASSERT_TRUE(found);
      const SessionStats& stats = found->run.stats;
      EXPECT_EQ(found->run.difference, std::nullopt);
      EXPECT_LE(stats.peak_bytes, found->budget_bytes);
      EXPECT_GT(stats.evictions, 0);
      guided_steps += stats.guided_steps;
      reasons += net + ": " + stats.no_plan_reason + "\n";
    }
  }
  const bool needs_solver = GetParam() == "autotm" && !solve::has_milp_solver();
  if (!plans_nothing_here(GetParam()) && !needs_solver) {
    EXPECT_GT(guided_steps, 0) << reasons;
  }
}

INSTANTIATE_TEST_SUITE_P(Catalogue, EveryPolicy, testing::ValuesIn(executable_policies()),
                         [](const auto& row) { return row.param; });

}  // namespace
}  // namespace lowtide::torch_test
