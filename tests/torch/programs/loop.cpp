// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
//
// What training loops do around forward and backward: several micro-batches a step, gradients
// clipped, mixed precision, an average of the weights.
#include <string>

#include <ATen/autocast_mode.h>
#include <torch/torch.h>

#include "torch/layers.h"
#include "torch/program.h"
#include "torch/training.h"

namespace lowtide::torch_test {
namespace {

constexpr std::int64_t kWidth = 128;
constexpr std::int64_t kBatch = 256;

struct Batches {
  Batches(at::Device device, std::uint64_t seed)
      : inputs(Data(device, seed).normal({4, kBatch, kWidth})),
        wanted(Data(device, seed + 1).normal({kBatch, kWidth})) {}
  at::Tensor inputs, wanted;
};

std::shared_ptr<LinearStack> make_stack(at::Device device, std::uint64_t seed) {
  return make_model<LinearStack>(device, seed, LinearStackShape{kWidth, kWidth, kWidth, 12});
}

std::unique_ptr<Training> accumulation(at::Device device, std::uint64_t seed) {
  auto model = make_stack(device, seed);
  const Batches batches(device, seed);
  return train_by(model, make_adam(*model), [=](int) {
    at::Tensor total = at::zeros({}, batches.wanted.options());
    for (int part = 0; part < 4; ++part) {
      const at::Tensor y = model->forward(batches.inputs.select(0, part));
      const at::Tensor loss = at::mse_loss(y, batches.wanted) / 4;
      loss.backward();
      total.add_(loss.detach());
    }
    return total;
  });
}

std::unique_ptr<Training> clipping(at::Device device, std::uint64_t seed) {
  auto model = make_stack(device, seed);
  const Batches batches(device, seed);
  return train_by(model, make_sgd(*model, 0.1), [=](int i) {
    const at::Tensor y = model->forward(batches.inputs.select(0, i % 4));
    const at::Tensor loss = at::mse_loss(y, batches.wanted);
    loss.backward();
    torch::nn::utils::clip_grad_norm_(model->parameters(), 0.05);
    return loss.detach();
  });
}

// Autocast to bfloat16 while it lives, as Python's torch.autocast.
class Autocast {
 public:
  explicit Autocast(at::DeviceType type)
      : type_(type),
        was_enabled_(at::autocast::is_autocast_enabled(type)),
        dtype_(at::autocast::get_autocast_dtype(type)) {
    at::autocast::set_autocast_enabled(type_, true);
    at::autocast::set_autocast_dtype(type_, at::kBFloat16);
    at::autocast::increment_nesting();
  }
  ~Autocast() {
    if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
    at::autocast::set_autocast_dtype(type_, dtype_);
    at::autocast::set_autocast_enabled(type_, was_enabled_);
  }
  Autocast(const Autocast&) = delete;
  Autocast& operator=(const Autocast&) = delete;

 private:
  at::DeviceType type_;
  bool was_enabled_;
  at::ScalarType dtype_;
};

class MixedStack : public torch::nn::Module {
 public:
  MixedStack() {
    for (int i = 0; i < 4; ++i) {
      blocks_.push_back(
          register_module("block" + std::to_string(i),
                          std::make_shared<TransformerBlock>(TransformerShape{
                              .width = 64, .dropout = 0.1, .attention = Attention::kSoftmax})));
    }
  }

  at::Tensor forward(at::Tensor x) {
    for (const auto& block : blocks_) x = block->forward(x);
    return x;
  }

 private:
  std::vector<std::shared_ptr<TransformerBlock>> blocks_;
};

std::unique_ptr<Training> autocast(at::Device device, std::uint64_t seed) {
  auto model = make_model<MixedStack>(device, seed);
  const at::Tensor inputs = Data(device, seed).normal({4, 8, 64, 64});
  return train(model, make_adam(*model), [=](int i) {
    const Autocast mixed(device.type());
    const at::Tensor x = inputs.select(0, i % 4);
    return at::mse_loss(model->forward(x), x.flip(1));
  });
}

// A model, and a slowly moving average of its weights that is kept as buffers.
class Averaged : public torch::nn::Module {
 public:
  Averaged() {
    stack = register_module(
        "stack", std::make_shared<LinearStack>(LinearStackShape{kWidth, kWidth, kWidth, 12}));
    const torch::NoGradGuard no_grad;
    for (const at::Tensor& parameter : stack->parameters()) {
      register_buffer("average" + std::to_string(count_++), parameter.clone());
    }
  }

  void follow() {
    const torch::NoGradGuard no_grad;
    const std::vector<at::Tensor> averages = buffers();
    at::_foreach_lerp_(averages, stack->parameters(), 0.05);
  }

  std::shared_ptr<LinearStack> stack;

 private:
  int count_ = 0;
};

std::unique_ptr<Training> average(at::Device device, std::uint64_t seed) {
  auto model = make_model<Averaged>(device, seed);
  const Batches batches(device, seed);
  return train(model, make_sgd(*model), [=](int i) {
    model->follow();
    return at::mse_loss(model->stack->forward(batches.inputs.select(0, i % 4)), batches.wanted);
  });
}

}  // namespace

std::vector<Program> loop_programs() {
  return {{"loop_accumulation", accumulation},
          {"loop_clipping", clipping},
          {"loop_autocast", autocast},
          {"loop_weight_average", average}};
}

}  // namespace lowtide::torch_test
