// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>

#include <torch/torch.h>

namespace lowtide::bench {

struct WorkOptions {
  std::string device = "cpu";
  std::int64_t layers = 48;
  std::int64_t width = 256;
  std::int64_t batch = 16384;
};

// Layers that scale every channel, with ReLU between them: few parameters, activations without end,
// and as little arithmetic for them as a training can have, so that the disk matters most.
class Work {
 public:
  // The same parameters each time.
  explicit Work(const WorkOptions& options);

  void step();
  // Of all parameters, on the CPU.
  at::Tensor parameters() const;
  // What the activations of one step take.
  static std::int64_t activation_bytes(const WorkOptions& options) {
    return options.layers * options.width * options.batch * 4;
  }

 private:
  torch::nn::Sequential net_;
  at::Tensor input_;
  std::unique_ptr<torch::optim::SGD> optimizer_;
};

}  // namespace lowtide::bench
