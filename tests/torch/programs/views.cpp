// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
//
// Views of every kind: many tensors, one storage.
#include <string>

#include <torch/torch.h>

#include "torch/program.h"
#include "torch/training.h"

namespace lowtide::torch_test {
namespace {

constexpr std::int64_t kWidth = 128;
constexpr std::int64_t kBatch = 256;
constexpr int kDepth = 14;

class ViewStack : public torch::nn::Module {
 public:
  ViewStack() {
    for (int i = 0; i < kDepth; ++i) {
      layers_.push_back(
          register_module("linear" + std::to_string(i), torch::nn::Linear(kWidth, kWidth)));
    }
  }

  at::Tensor forward(at::Tensor x) {
    for (int i = 0; i < kDepth; ++i) {
      x = at::tanh(layers_[static_cast<std::size_t>(i)]->forward(twist(i, x)));
    }
    return x;
  }

 private:
  // The same sizes as x, by way of views.
  static at::Tensor twist(int i, const at::Tensor& x) {
    switch (i % 7) {
      case 0:  // Not contiguous, so reshape copies.
        return x.reshape({kBatch, 4, -1}).transpose(1, 2).reshape({kBatch, kWidth});
      case 1: {
        const std::vector<at::Tensor> parts = x.chunk(3, 1);
        return at::cat({parts[2], parts[0] * 0.5, parts[1]}, 1);
      }
      case 2:  // A row for all rows.
        return x.narrow(0, 3, 1).expand({kBatch, kWidth}) + x.flip(0);
      case 3:  // From the middle of one row to the middle of the next.
        return at::constant_pad_nd(
            x.as_strided({kBatch - 1, kWidth}, {kWidth, 1}, kWidth / 2).mul(0.5), {0, 0, 0, 1},
            0.1);
      case 4: {  // Windows of three columns.
        const at::Tensor windows = at::constant_pad_nd(x, {1, 1}).unfold(1, 3, 1);
        return windows.mean(2);
      }
      case 5: {
        const std::vector<at::Tensor> rows = x.view({2, kBatch / 2, kWidth}).unbind(0);
        return at::stack({rows[1], rows[0]}, 0).flatten(0, 1);
      }
      default:  // A diagonal, a selection and a squeeze, back to all rows.
        return x + x.narrow(0, 0, kWidth).diagonal().unsqueeze(0) +
               x.select(1, 0).unsqueeze(1).squeeze(1).view({kBatch, 1});
    }
  }

  std::vector<torch::nn::Linear> layers_;
};

std::unique_ptr<Training> make(at::Device device, std::uint64_t seed) {
  auto model = make_model<ViewStack>(device, seed);
  const at::Tensor inputs = Data(device, seed).normal({4, kBatch, kWidth});
  const at::Tensor wanted = Data(device, seed + 1).normal({kBatch, kWidth});
  return train(model, make_adam(*model), [=](int i) {
    return at::mse_loss(model->forward(inputs.select(0, i % 4)), wanted);
  });
}

}  // namespace

std::vector<Program> view_programs() { return {{"views", make}}; }

}  // namespace lowtide::torch_test
