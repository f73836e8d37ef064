// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <vector>

#include "zoo/model.h"

// How modules become a `Model`: what options say of their inputs, and the cross entropy of what
// they give as their loss.

namespace lowtide::zoo {

// The defaults, with what the options have set. Throws InvalidInput if that is a size under the
// smallest with which the model works.
InputShape input_of(const ModelOptions& options, InputShape defaults,
                    std::int64_t smallest_size = 1);

// The mean over all targets but those of -100. Shapes as in `Model`.
at::Tensor mean_cross_entropy(const at::Tensor& scores, const at::Tensor& targets, InputKind kind);

template <class Net>
Model model_of(const std::shared_ptr<Net>& net, const InputShape& input) {
  return {.name = {},
          .module = net,
          .input = input,
          .forward = [net](const at::Tensor& inputs) { return net->forward(inputs); },
          .loss =
              [net, kind = input.kind](const at::Tensor& inputs, const at::Tensor& targets) {
                return mean_cross_entropy(net->forward(inputs), targets, kind);
              }};
}

// What a module with auxiliary heads gives.
struct HeadScores {
  at::Tensor head;
  // Empty when not training.
  std::vector<at::Tensor> auxiliary;
};

// The head's loss, and of each auxiliary head's the given share.
at::Tensor loss_of_heads(const HeadScores& scores, const at::Tensor& targets, double share);

// As model_of, for a net of pictures that gives HeadScores.
template <class Net>
Model model_of_heads(const std::shared_ptr<Net>& net, const InputShape& input,
                     double auxiliary_share) {
  return {.name = {},
          .module = net,
          .input = input,
          .forward = [net](const at::Tensor& inputs) { return net->forward(inputs).head; },
          .loss =
              [net, auxiliary_share](const at::Tensor& inputs, const at::Tensor& targets) {
                return loss_of_heads(net->forward(inputs), targets, auxiliary_share);
              }};
}

}  // namespace lowtide::zoo
