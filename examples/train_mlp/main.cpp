// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
//
// A model and a loop of your own, inside a memory budget.
#include <iostream>

#include <lowtide/session.h>
#include <torch/torch.h>

int main() {
  // Before the model, so that parameters count and can be moved too.
  lowtide::Session session({.budget = "24MiB", .device = "cpu"});

  torch::nn::Sequential model;
  for (int i = 0; i < 12; ++i) {
    model->push_back(torch::nn::Linear(256, 256));
    model->push_back(torch::nn::GELU());
  }
  torch::optim::AdamW optimizer(model->parameters(), torch::optim::AdamWOptions(1e-3));
  const torch::Tensor input = torch::randn({1024, 256});
  const torch::Tensor wanted = input.sin();

  double loss_now = 0;
  for (int i = 0; i < 10; ++i) {
    session.step([&] {
      optimizer.zero_grad();
      torch::Tensor loss = torch::mse_loss(model->forward(input), wanted);
      loss.backward();
      optimizer.step();
      loss_now = loss.item<double>();
    });
  }
  const lowtide::SessionStats stats = session.stats();
  std::cout << "loss " << loss_now << ", peak " << stats.peak_bytes << " of " << stats.budget_bytes
            << " bytes, " << stats.evictions << " evictions\n";
  return stats.peak_bytes <= stats.budget_bytes && stats.evictions > 0 ? 0 : 1;
}
