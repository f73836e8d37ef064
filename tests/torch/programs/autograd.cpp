// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
//
// Less usual ways through autograd: regions computed again in backward, gradients of gradients,
// functions with a backward of their own.
#include <string>
#include <utility>

#include <torch/torch.h>

#include "torch/checkpoint.h"
#include "torch/layers.h"
#include "torch/program.h"
#include "torch/training.h"

namespace lowtide::torch_test {
namespace {

using torch::autograd::AutogradContext;
using torch::autograd::Variable;
using torch::autograd::variable_list;

constexpr std::int64_t kWidth = 128;
constexpr std::int64_t kBatch = 256;

// Six transformer blocks with dropout, every second one checkpointed.
class CheckpointedStack : public torch::nn::Module {
 public:
  CheckpointedStack() {
    for (int i = 0; i < 6; ++i) {
      blocks_.push_back(
          register_module("block" + std::to_string(i),
                          std::make_shared<TransformerBlock>(TransformerShape{.dropout = 0.1})));
    }
  }

  at::Tensor forward(at::Tensor x) {
    for (std::size_t i = 0; i < blocks_.size(); ++i) {
      const std::shared_ptr<TransformerBlock> block = blocks_[i];
      x = i % 2 == 0
              ? block->forward(x)
              : checkpoint([block](const at::Tensor& input) { return block->forward(input); }, x);
    }
    return x;
  }

 private:
  std::vector<std::shared_ptr<TransformerBlock>> blocks_;
};

std::unique_ptr<Training> checkpointed(at::Device device, std::uint64_t seed) {
  auto model = make_model<CheckpointedStack>(device, seed);
  const at::Tensor inputs = Data(device, seed).normal({4, 8, 64, 48});
  return train(model, make_adam(*model), [=](int i) {
    const at::Tensor x = inputs.select(0, i % 4);
    return at::mse_loss(model->forward(x), x.flip(1));
  });
}

// The penalty of Gulrajani et al. 2017, section 4: the norm of the gradient with respect to the
// input should be 1.
std::unique_ptr<Training> gradient_penalty(at::Device device, std::uint64_t seed) {
  auto model = make_model<LinearStack>(device, seed, LinearStackShape{kWidth, kWidth, 1, 6});
  const at::Tensor inputs = Data(device, seed).normal({4, kBatch, kWidth});
  return train(model, make_adam(*model), [=](int i) {
    const at::Tensor x = inputs.select(0, i % 4).clone().requires_grad_();
    const at::Tensor score = model->forward(x).sum();
    const at::Tensor slope =
        torch::autograd::grad({score}, {x}, {}, /*retain_graph=*/true, /*create_graph=*/true)[0];
    return (slope.norm(2, 1) - 1.0).pow(2).mean() + 0.01 * score / kBatch;
  });
}

// x * sigmoid(x), saving an input and something that is neither input nor output.
struct Swish : torch::autograd::Function<Swish> {
  static Variable forward(AutogradContext* context, const Variable& x) {
    const at::Tensor gate = at::sigmoid(x);
    context->save_for_backward({x, gate});
    return x * gate;
  }
  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const variable_list saved = context->get_saved_variables();
    at::Tensor slope = at::rsub(saved[1], 1).mul_(saved[0]).add_(1).mul_(saved[1]);
    return {slope.mul_(gradients[0])};
  }
};

// A linear layer with tanh, as one function that saves its output.
struct LinearTanh : torch::autograd::Function<LinearTanh> {
  static Variable forward(AutogradContext* context, const Variable& x, const Variable& weight,
                          const Variable& bias) {
    at::Tensor y = at::addmm(bias, x, weight.t()).tanh_();
    context->save_for_backward({x, weight, y});
    return y;
  }
  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    const variable_list saved = context->get_saved_variables();
    const at::Tensor inner = at::tanh_backward(gradients[0], saved[2]);
    return {inner.mm(saved[1]), inner.t().mm(saved[0]), inner.sum(0)};
  }
};

// Scales in place and says so; gives a second output that has no gradient.
struct ScaleInPlace : torch::autograd::Function<ScaleInPlace> {
  static variable_list forward(AutogradContext* context, Variable x, double factor) {
    context->saved_data["factor"] = factor;
    x.mul_(factor);
    const at::Tensor is_large = x.abs() > 1.0;
    context->mark_dirty({x});
    context->mark_non_differentiable({is_large});
    return {x, is_large};
  }
  static variable_list backward(AutogradContext* context, const variable_list& gradients) {
    return {gradients[0] * context->saved_data["factor"].toDouble(), Variable()};
  }
};

class FunctionStack : public torch::nn::Module {
 public:
  FunctionStack() {
    for (int i = 0; i < 12; ++i) {
      layers_.push_back(
          register_module("linear" + std::to_string(i), torch::nn::Linear(kWidth, kWidth)));
    }
  }

  at::Tensor forward(at::Tensor x) {
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      torch::nn::Linear& layer = layers_[i];
      if (i % 3 == 0) {
        x = Swish::apply(layer->forward(x));
      } else if (i % 3 == 1) {
        x = LinearTanh::apply(x, layer->weight, layer->bias);
      } else {
        const variable_list both = ScaleInPlace::apply(layer->forward(x), 1.5);
        x = at::where(both[1], both[0] * 0.5, both[0]);
      }
    }
    return x;
  }

 private:
  std::vector<torch::nn::Linear> layers_;
};

std::unique_ptr<Training> functions(at::Device device, std::uint64_t seed) {
  auto model = make_model<FunctionStack>(device, seed);
  const at::Tensor inputs = Data(device, seed).normal({4, kBatch, kWidth});
  const at::Tensor wanted = Data(device, seed + 1).normal({kBatch, kWidth});
  return train(model, make_sgd(*model), [=](int i) {
    return at::mse_loss(model->forward(inputs.select(0, i % 4)), wanted);
  });
}

}  // namespace

std::vector<Program> autograd_programs() {
  return {{"autograd_checkpointed", checkpointed},
          {"autograd_gradient_penalty", gradient_penalty},
          {"autograd_functions", functions}};
}

}  // namespace lowtide::torch_test
