// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "modes.h"

#include "base/bytes.h"
#include "base/words.h"

namespace lowtide::bench {
namespace {

struct Row {
  const char* name;
  double budget_share;
  Means means;
  const char* policy;
  // Predictions, written down before the first run (README.md says from what); 0: a refusal.
  double resnet_ratio;
  double gpt_ratio;
};

constexpr Row kSessions[] = {
    {"watching", 0, Means::kMixed, "online", 1.01, 1.02},
    {"fits 105 %", 1.05, Means::kMixed, "online", 1.01, 1.01},
    {"fits 115 %", 1.15, Means::kMixed, "online", 1.00, 1.00},
    {"online 100 %", 1.0, Means::kMixed, "online", 1.01, 1.15},
    {"online 80 %", 0.8, Means::kMixed, "online", 1.05, 1.06},
    {"online 60 %", 0.6, Means::kMixed, "online", 1.12, 1.20},
    {"online 50 %", 0.5, Means::kMixed, "online", 1.18, 1.35},
    {"online 40 %", 0.4, Means::kMixed, "online", 1.30, 1.80},
    {"online 30 %", 0.3, Means::kMixed, "online", 1.50, 0},
    {"recompute 60 %", 0.6, Means::kRecompute, "online", 1.12, 1.20},
    {"recompute 40 %", 0.4, Means::kRecompute, "online", 1.30, 0},
    {"host 80 %", 0.8, Means::kHost, "online", 1.50, 1.60},
    {"host 60 %", 0.6, Means::kHost, "online", 2.50, 2.50},
    {"guided 100 %", 1.0, Means::kMixed, "auto", 1.01, 1.01},
    {"guided 80 %", 0.8, Means::kMixed, "auto", 1.02, 1.15},
    {"guided 61 %", 0.61, Means::kMixed, "auto", 1.08, 1.20},
    {"guided 60 %", 0.6, Means::kMixed, "auto", 1.08, 1.20},
    {"guided 50 %", 0.5, Means::kMixed, "auto", 1.15, 1.30},
    {"guided 44 %", 0.44, Means::kMixed, "auto", 1.20, 1.40},
    {"guided 40 %", 0.4, Means::kMixed, "auto", 1.25, 1.50},
    {"guided 30 %", 0.3, Means::kMixed, "auto", 1.40, 2.00},
    {"guided 20 %", 0.2, Means::kMixed, "auto", 2.00, 4.00},
};
constexpr double kResnetCheckpointRatio = 1.30;
constexpr double kGptCheckpointRatio = 1.40;
// VGG-16 with 256 pictures under 12 GiB, and a CIFAR ResNet of 1000 layers under a seventh.
constexpr double kVggRatio = 1.10;
constexpr double kDeepResnetRatio = 1.40;

std::optional<double> prediction(double ratio) {
  return ratio > 0 ? std::optional(ratio) : std::nullopt;
}

Mode guided_under(const std::string& model, const std::string& budget, const std::string& policy) {
  const std::string name = policy == "auto" ? "guided" : policy;
  Mode mode = {.name = name + " " + budget, .has_session = true, .policy = policy};
  if (budget.ends_with('%')) {
    constexpr std::int64_t kParts = 1'000'000;
    mode.budget_share =
        static_cast<double>(base::parse_budget(budget, kParts)) / static_cast<double>(kParts);
  } else {
    mode.budget_bytes = base::parse_bytes(budget);
  }
  if (policy == "auto") {
    mode.predicted_ratio = model.starts_with("vgg") ? kVggRatio : kDeepResnetRatio;
  }
  return mode;
}

}  // namespace

std::vector<Mode> modes_for(const std::string& model, const std::string& budgets,
                            const std::vector<std::string>& policies) {
  const bool is_gpt = model.starts_with("gpt");
  std::vector<Mode> modes = {{.name = "plain", .predicted_ratio = 1.0}};
  for (const Row& row : kSessions) {
    modes.push_back({.name = row.name,
                     .has_session = true,
                     .budget_share = row.budget_share,
                     .means = row.means,
                     .policy = row.policy,
                     .predicted_ratio = prediction(is_gpt ? row.gpt_ratio : row.resnet_ratio)});
  }
  const std::vector<std::string> planners =
      policies.empty() ? std::vector<std::string>{"auto"} : policies;
  for (const std::string_view budget : base::split_on(budgets, ',')) {
    if (budgets.empty()) break;
    for (const std::string& policy : planners) {
      modes.push_back(guided_under(model, std::string(budget), policy));
    }
  }
  if (!is_gpt && !model.starts_with("resnet")) return modes;
  modes.push_back({.name = "checkpoint per block",
                   .checkpoint_blocks = true,
                   .predicted_ratio = is_gpt ? kGptCheckpointRatio : kResnetCheckpointRatio});
  return modes;
}

}  // namespace lowtide::bench
