// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
//
// One small model under every optimizer.
#include <utility>

#include <torch/torch.h>

#include "torch/layers.h"
#include "torch/program.h"
#include "torch/training.h"

namespace lowtide::torch_test {
namespace {

// Six weights of exactly the default floor, 64 KiB, and activations of twice that.
std::unique_ptr<Training> make(const OptimizerRow& row, at::Device device, std::uint64_t seed) {
  auto model = make_model<LinearStack>(device, seed, LinearStackShape{128, 128, 8, 6});
  const at::Tensor inputs = Data(device, seed).normal({4, 256, 128});
  const at::Tensor labels = Data(device, seed + 1).integers(0, 8, {4, 256});
  return train(model, row.make(model->parameters()), [=](int i) {
    return torch::cross_entropy_loss(model->forward(inputs.select(0, i % 4)),
                                     labels.select(0, i % 4));
  });
}

}  // namespace

const std::vector<Program>& optimizer_programs() {
  static const std::vector<Program> all = [] {
    std::vector<Program> result;
    for (const OptimizerRow& row : optimizers()) {
      result.push_back({"optimizer_" + row.name, [&row](at::Device device, std::uint64_t seed) {
                          return make(row, device, seed);
                        }});
    }
    return result;
  }();
  return all;
}

}  // namespace lowtide::torch_test
