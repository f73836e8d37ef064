// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "modes.h"

namespace lowtide::bench {
namespace {

struct Row {
  const char* name;
  double budget_share;
  Means means;
  // Predictions, written down before the first run (README.md says from what); 0: a refusal.
  double resnet_ratio;
  double gpt_ratio;
};

constexpr Row kSessions[] = {
    {"watching", 0, Means::kMixed, 1.01, 1.02},
    {"fits 105 %", 1.05, Means::kMixed, 1.01, 1.02},
    {"mixed 80 %", 0.8, Means::kMixed, 1.05, 1.06},
    {"mixed 60 %", 0.6, Means::kMixed, 1.12, 1.20},
    {"mixed 50 %", 0.5, Means::kMixed, 1.18, 1.35},
    {"mixed 40 %", 0.4, Means::kMixed, 1.30, 1.80},
    {"mixed 30 %", 0.3, Means::kMixed, 1.50, 0},
    {"recompute 60 %", 0.6, Means::kRecompute, 1.12, 1.20},
    {"recompute 40 %", 0.4, Means::kRecompute, 1.30, 0},
    {"host 80 %", 0.8, Means::kHost, 1.50, 1.60},
    {"host 60 %", 0.6, Means::kHost, 2.50, 2.50},
};
constexpr double kResnetCheckpointRatio = 1.30;
constexpr double kGptCheckpointRatio = 1.40;

std::optional<double> prediction(double ratio) {
  return ratio > 0 ? std::optional(ratio) : std::nullopt;
}

}  // namespace

std::vector<Mode> modes_for(const std::string& model) {
  const bool is_gpt = model.starts_with("gpt");
  std::vector<Mode> modes = {{.name = "plain", .predicted_ratio = 1.0}};
  for (const Row& row : kSessions) {
    modes.push_back({.name = row.name,
                     .has_session = true,
                     .budget_share = row.budget_share,
                     .means = row.means,
                     .predicted_ratio = prediction(is_gpt ? row.gpt_ratio : row.resnet_ratio)});
  }
  modes.push_back({.name = "checkpoint per block",
                   .checkpoint_blocks = true,
                   .predicted_ratio = is_gpt ? kGptCheckpointRatio : kResnetCheckpointRatio});
  return modes;
}

}  // namespace lowtide::bench
