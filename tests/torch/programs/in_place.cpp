// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
//
// Ops that write where they read: arithmetic, writes through views, writes at indices, and ops that
// are told where to put their result.
#include <string>

#include <torch/torch.h>

#include "torch/program.h"
#include "torch/training.h"

namespace lowtide::torch_test {
namespace {

constexpr std::int64_t kWidth = 128;
constexpr std::int64_t kBatch = 256;
constexpr int kDepth = 12;

// Linear layers; what happens between them is the subclass's.
class Stack : public torch::nn::Module {
 public:
  Stack() {
    for (int i = 0; i < kDepth; ++i) {
      layers_.push_back(
          register_module("linear" + std::to_string(i), torch::nn::Linear(kWidth, kWidth)));
    }
  }

  at::Tensor forward(at::Tensor x) {
    for (int i = 0; i < kDepth; ++i) {
      x = between(i, x, layers_[static_cast<std::size_t>(i)]->forward(x));
    }
    return x;
  }

 private:
  // x: what the i-th layer was given; y: what it made, which nobody else reads.
  virtual at::Tensor between(int i, const at::Tensor& x, at::Tensor y) = 0;

  std::vector<torch::nn::Linear> layers_;
};

class Arithmetic final : public Stack {
  at::Tensor between(int i, const at::Tensor& x, at::Tensor y) override {
    switch (i % 6) {
      case 0:
        return y.add_(0.1).mul_(1.1).relu_();
      case 1:
        return y.sub_(x, 0.5).div_(1.5).sigmoid_();
      case 2:
        return y.addcmul_(x, x, 0.1).clamp_(-2.0, 2.0).add_(x);
      case 3:
        return y.mul_(0.5).tanh_();
      case 4:
        return y.clamp_(-3.0, 3.0).exp_();
      default:
        return at::leaky_relu_(y.neg_().lerp_(x, 0.25), 0.1);
    }
  }
};

class Views final : public Stack {
  at::Tensor between(int i, const at::Tensor& x, at::Tensor y) override {
    switch (i % 4) {
      case 0:  // A part of the columns, then all of it.
        y.narrow(1, 0, kWidth / 2).mul_(0.5);
        return y.tanh_();
      case 1:  // Through two views at once, one of them transposed.
        y.view({kBatch, 4, -1}).transpose(1, 2).select(2, 1).add_(1.0);
        return y.relu_();
      case 2:  // A base written through one part while another part is read.
        y.slice(1, 0, kWidth, 2).copy_(x.slice(1, 1, kWidth, 2) * 0.5);
        return y.tanh();
      default: {  // A new storage, filled part by part.
        at::Tensor all = at::zeros_like(y);
        const std::vector<at::Tensor> halves = y.chunk(2, 1);
        all.narrow(1, 0, kWidth / 2).copy_(halves[1]);
        all.narrow(1, kWidth / 2, kWidth / 2).add_(halves[0], 0.5);
        return all.tanh_();
      }
    }
  }
};

class Indices final : public Stack {
 public:
  Indices(at::Device device, std::uint64_t seed) {
    Data data(device, seed + 17);
    mask_ = data.uniform({kBatch, kWidth}) < 0.3;
    rows_ = data.permutation(kBatch).narrow(0, 0, kBatch / 2);
    columns_ = data.integers(0, kWidth, {kBatch / 2});
  }

 private:
  at::Tensor between(int i, const at::Tensor& x, at::Tensor y) override {
    switch (i % 5) {
      case 0:
        return y.masked_fill_(mask_, -0.5).tanh_();
      case 1:
        return y.index_put_({rows_, columns_}, x.select(1, 0).narrow(0, 0, kBatch / 2)).tanh();
      case 2:
        return y.index_fill_(0, rows_.narrow(0, 0, 8), 0.25).relu_();
      case 3:
        return y.index_copy_(0, rows_, x.narrow(0, 0, kBatch / 2)).tanh_();
      default:
        return y.masked_scatter_(mask_, x).sigmoid_();
    }
  }

  at::Tensor mask_, rows_, columns_;
};

template <class Model, class... Arguments>
std::unique_ptr<Training> make(at::Device device, std::uint64_t seed, Arguments... arguments) {
  auto model = make_model<Model>(device, seed, arguments...);
  const at::Tensor inputs = Data(device, seed).normal({4, kBatch, kWidth});
  const at::Tensor wanted = Data(device, seed + 1).normal({kBatch, kWidth});
  return train(model, make_sgd(*model), [=](int i) {
    return at::mse_loss(model->forward(inputs.select(0, i % 4)), wanted);
  });
}

std::unique_ptr<Training> indices(at::Device device, std::uint64_t seed) {
  return make<Indices>(device, seed, device, seed);
}

// Keeps running means of its activations, and prepares its inputs, with ops that take `out`.
class OutVariants : public torch::nn::Module {
 public:
  OutVariants() {
    for (int i = 0; i < kDepth; ++i) {
      const std::string number = std::to_string(i);
      layers_.push_back(register_module("linear" + number, torch::nn::Linear(kWidth, kWidth)));
      means_.push_back(register_buffer("mean" + number, torch::zeros({kBatch, kWidth})));
    }
    products_ = register_buffer("products", torch::zeros({kWidth, kWidth}));
  }

  at::Tensor forward(const at::Tensor& raw) {
    at::Tensor x = prepare(raw);
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      x = x + layers_[i]->forward(x).tanh_();
      const torch::NoGradGuard no_grad;
      at::Tensor change = at::empty({0}, x.options());
      at::sub_out(change, x.detach(), means_[i]);
      at::add_out(means_[i], means_[i], change, 0.1);
    }
    return x;
  }

 private:
  at::Tensor prepare(const at::Tensor& raw) {
    const torch::NoGradGuard no_grad;
    at::Tensor x = at::empty_like(raw);
    at::mul_out(x, raw, at::scalar_tensor(0.5, raw.options()));
    at::clamp_out(x, x, -1.0, 1.0);
    at::Tensor both = at::empty({0}, raw.options());
    at::cat_out(both, {x.narrow(1, 0, kWidth / 2), raw.narrow(1, 0, kWidth / 2)}, 1);
    at::mm_out(products_, both.t(), both);
    at::Tensor sums = at::empty({0}, raw.options());
    at::sum_out(sums, products_, at::IntArrayRef{0});
    at::Tensor largest = at::empty({0}, raw.options());
    at::Tensor places = at::empty({0}, raw.options().dtype(at::kLong));
    at::max_out(largest, places, both, 0);
    return both + sums * 0.001 + largest;
  }

  std::vector<torch::nn::Linear> layers_;
  std::vector<at::Tensor> means_;
  at::Tensor products_;
};

// Writes several tensors with one op, some computed from others of them, while copies of what they
// were are still to be read: what a fused optimizer step does to copies of the gradients.
class Several : public torch::nn::Module {
 public:
  Several() {
    for (int i = 0; i < kDepth; ++i) {
      const std::string number = std::to_string(i);
      layers_.push_back(register_module("linear" + number, torch::nn::Linear(kWidth, kWidth)));
      means_.push_back(register_buffer("mean" + number, torch::ones({kBatch, kWidth})));
    }
  }

  at::Tensor forward(at::Tensor x) {
    std::vector<at::Tensor> copies;
    for (std::size_t i = 0; i < layers_.size(); ++i) {
      x = x + layers_[i]->forward(x).tanh();
      const torch::NoGradGuard no_grad;
      const at::Tensor doubled = means_[i] * 2;
      copies.push_back(doubled.clone());
      at::_foreach_add_({means_[i], doubled}, {x, x}, 0.1);
      copies.push_back(doubled);
    }
    for (const at::Tensor& copy : copies) x = x + copy * 0.01;
    return x;
  }

 private:
  std::vector<torch::nn::Linear> layers_;
  std::vector<at::Tensor> means_;
};

}  // namespace

std::vector<Program> in_place_programs() {
  return {{"in_place_arithmetic", make<Arithmetic>},
          {"in_place_views", make<Views>},
          {"in_place_indices", indices},
          {"in_place_out_variants", make<OutVariants>},
          {"in_place_several", make<Several>}};
}

}  // namespace lowtide::torch_test
