// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
//
// Every policy of the catalogue whose plans the engine carries out, carried out: plain's bits, the
// cap, and plans that are really followed.
#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <torch/torch.h>

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

// A step of few ops, for a policy that plans no larger ones.
class FewLayers : public torch::nn::Module {
 public:
  FewLayers() {
    for (int i = 0; i < 3; ++i) {
      scales_.push_back(
          register_parameter("scale" + std::to_string(i), torch::full({kFewWidth}, 0.9)));
    }
  }
  at::Tensor forward(at::Tensor x) {
    for (const at::Tensor& scale : scales_) x = at::tanh(x * scale);
    return x;
  }
  static constexpr std::int64_t kFewWidth = 128;

 private:
  std::vector<at::Tensor> scales_;
};

const Program& few_layers() {
  static const Program few{
      .name = "few_layers", .make = [](at::Device device, std::uint64_t seed) {
        const auto model = make_model<FewLayers>(device, seed);
        const at::Tensor input = Data(device, seed).normal({512, FewLayers::kFewWidth});
        return train(model, make_sgd(*model),
                     [=](int) { return model->forward(input).square().mean(); });
      }};
  return few;
}

std::vector<const Program*> programs_for(const std::string& policy) {
  if (policy == "checkmate") return {&few_layers()};
  std::vector<const Program*> chosen;
  for (const std::string& net : nets()) chosen.push_back(&program(net));
  return chosen;
}

std::vector<std::string> executable_policies() {
  std::vector<std::string> names;
  for (const PolicyInfo& info : catalogue()) {
    if (info.executable) names.push_back(info.name);
  }
  return names;
}

bool needs_solver(const std::string& policy) {
  const auto& needs = policy_named(policy).needs;
  return std::any_of(needs.begin(), needs.end(),
                     [](const PolicyNeed& need) { return need.need == Need::kSolver; });
}

class EveryPolicy : public testing::TestWithParam<std::string> {};

TEST_P(EveryPolicy, IsCarriedOutWithPlainsBits) {
  std::int64_t guided_steps = 0;
  std::string reasons;
  for (const Program* each : programs_for(GetParam())) {
    const Program& chosen = *each;
    LT_SKIP_IF(why_skip(chosen));
    const Reference& wanted = reference(chosen, kSteps);
    for (const int share : kSharesPercent) {
      SCOPED_TRACE(chosen.name + " at " + std::to_string(share) + " %");
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
      reasons += chosen.name + ": " + stats.no_plan_reason + "\n";
    }
  }
  if (GetParam() == "keep_all") return;  // It evicts nothing, so that there is nothing to follow.
  if (needs_solver(GetParam()) && !solve::has_milp_solver()) {
    GTEST_SKIP() << "the online rule ran all steps: " << solve::no_milp_solver();
  }
  EXPECT_GT(guided_steps, 0) << reasons;
}

INSTANTIATE_TEST_SUITE_P(Catalogue, EveryPolicy, testing::ValuesIn(executable_policies()),
                         [](const auto& row) { return row.param; });

}  // namespace
}  // namespace lowtide::torch_test
