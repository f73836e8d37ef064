// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "zoo/scoring.h"

#include <ATen/ops/cross_entropy_loss.h>

#include "base/check.h"

namespace lowtide::zoo {

InputShape input_of(const ModelOptions& options, InputShape defaults, std::int64_t smallest_size) {
  defaults.channels = options.channels.value_or(defaults.channels);
  defaults.size = options.size.value_or(defaults.size);
  defaults.classes = options.classes.value_or(defaults.classes);
  defaults.context = options.context.value_or(defaults.context);
  defaults.vocabulary = options.vocabulary.value_or(defaults.vocabulary);
  LT_REQUIRE(defaults.size >= smallest_size, "this model's pictures must have a size of at least ",
             smallest_size, ", not ", defaults.size);
  return defaults;
}

at::Tensor mean_cross_entropy(const at::Tensor& scores, const at::Tensor& targets, InputKind kind) {
  // Torch wants classes in the second place, where pictures have them.
  if (kind == InputKind::kPictures) return at::cross_entropy_loss(scores, targets);
  return at::cross_entropy_loss(scores.flatten(0, 1), targets.flatten());
}

at::Tensor loss_of_heads(const HeadScores& scores, const at::Tensor& targets, double share) {
  at::Tensor loss = at::cross_entropy_loss(scores.head, targets);
  for (const at::Tensor& head : scores.auxiliary) {
    loss = loss + share * at::cross_entropy_loss(head, targets);
  }
  return loss;
}

}  // namespace lowtide::zoo
