// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
//
// Reading and adding at indices, as in nets on graphs; and order: sort, topk, running sums.
#include <string>
#include <tuple>

#include <torch/torch.h>

#include "torch/program.h"
#include "torch/training.h"

namespace lowtide::torch_test {
namespace {

constexpr std::int64_t kWidth = 128;
constexpr std::int64_t kNodes = 192;
constexpr std::int64_t kEdges = 384;
constexpr int kDepth = 12;

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
      x = x + at::tanh(layers_[static_cast<std::size_t>(i)]->forward(mix(i, x)));
    }
    return x;
  }

 private:
  // The same sizes as x.
  virtual at::Tensor mix(int i, const at::Tensor& x) = 0;

  std::vector<torch::nn::Linear> layers_;
};

class Graph final : public Stack {
 public:
  Graph(at::Device device, std::uint64_t seed) {
    Data data(device, seed + 17);
    from_ = data.integers(0, kNodes, {kEdges});
    to_ = data.integers(0, kNodes, {kEdges});
    is_open_ = data.uniform({kNodes, kWidth}) < 0.7;
    cells_ = data.integers(0, kWidth, {kNodes, kWidth});
  }

 private:
  at::Tensor mix(int i, const at::Tensor& x) override {
    const at::Tensor nothing = at::zeros_like(x);
    switch (i % 4) {
      case 0:
        return nothing.index_add(0, to_, x.index_select(0, from_), 0.5);
      case 1:
        return x.gather(1, cells_) * 0.5;
      case 2:
        return nothing.scatter_add(1, cells_, x * 0.25);
      default:
        return at::where(is_open_, x, x.index({from_.narrow(0, 0, kNodes)}));
    }
  }

  at::Tensor from_, to_, is_open_, cells_;
};

class Order final : public Stack {
  at::Tensor mix(int i, const at::Tensor& x) override {
    switch (i % 3) {
      case 0:
        return std::get<0>(x.sort(1)) * 0.5;
      case 1: {
        const at::Tensor largest = std::get<0>(x.topk(kWidth / 2, 1));
        return at::cat({largest, x.narrow(1, 0, kWidth / 2)}, 1);
      }
      default:
        return x.index_select(1, std::get<1>(x.select(0, 0).sort(0))) - std::get<0>(x.max(1, true));
    }
  }
};

class RunningSums final : public Stack {
  at::Tensor mix(int i, const at::Tensor& x) override {
    return i % 2 == 0 ? x.cumsum(1) * 0.05 : x.logcumsumexp(0) * 0.05;
  }
};

template <class Model, class... Arguments>
std::unique_ptr<Training> make(at::Device device, std::uint64_t seed, Arguments... arguments) {
  auto model = make_model<Model>(device, seed, arguments...);
  const at::Tensor inputs = Data(device, seed).normal({4, kNodes, kWidth});
  const at::Tensor wanted = Data(device, seed + 1).normal({kNodes, kWidth});
  return train(model, make_adam(*model), [=](int i) {
    return at::mse_loss(model->forward(inputs.select(0, i % 4)), wanted);
  });
}

std::unique_ptr<Training> graph(at::Device device, std::uint64_t seed) {
  return make<Graph>(device, seed, device, seed);
}

}  // namespace

std::vector<Program> indexing_programs() {
  return {{"indexing_graph", graph},
          {"indexing_order", make<Order>},
          {"indexing_running_sums", make<RunningSums>,
           "cumsum of floating-point numbers has no deterministic kernel on a GPU"}};
}

}  // namespace lowtide::torch_test
