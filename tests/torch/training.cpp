// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "torch/training.h"

#include <utility>

#include <ATen/CPUGeneratorImpl.h>

namespace lowtide::torch_test {
namespace {

class PlainTraining final : public Training {
 public:
  PlainTraining(std::shared_ptr<torch::nn::Module> model, std::unique_ptr<Optimizer> optimizer,
                Loss loss)
      : model_(std::move(model)), optimizer_(std::move(optimizer)), loss_of_(std::move(loss)) {}

  void step(int i) override {
    loss_ = optimizer_->step([&] {
      model_->zero_grad();
      return loss_of_(i);
    });
  }

  std::vector<NamedTensor> state() const override {
    std::vector<NamedTensor> result;
    if (loss_.defined()) result.push_back({"loss", loss_});
    for (const auto& item : model_->named_parameters()) {
      result.push_back({item.key(), item.value()});
      const at::Tensor& gradient = item.value().grad();
      if (gradient.defined()) result.push_back({item.key() + ".grad", gradient});
    }
    for (const auto& item : model_->named_buffers()) result.push_back({item.key(), item.value()});
    for (NamedTensor& item : optimizer_->state()) result.push_back(std::move(item));
    return result;
  }

 private:
  std::shared_ptr<torch::nn::Module> model_;
  std::unique_ptr<Optimizer> optimizer_;
  Loss loss_of_;
  at::Tensor loss_;
};

}  // namespace

Data::Data(at::Device device, std::uint64_t seed)
    : device_(device), generator_(at::make_generator<at::CPUGeneratorImpl>(seed)) {}

at::Tensor Data::normal(at::IntArrayRef sizes) {
  return at::randn(sizes, generator_, at::TensorOptions()).to(device_);
}

at::Tensor Data::uniform(at::IntArrayRef sizes) {
  return at::rand(sizes, generator_, at::TensorOptions()).to(device_);
}

at::Tensor Data::integers(std::int64_t low, std::int64_t high, at::IntArrayRef sizes) {
  return at::randint(low, high, sizes, generator_, at::TensorOptions(at::kLong)).to(device_);
}

std::int64_t Data::integer(std::int64_t low, std::int64_t high) {
  return at::randint(low, high, {1}, generator_, at::TensorOptions(at::kLong)).item<std::int64_t>();
}

at::Tensor Data::permutation(std::int64_t count) {
  return at::randperm(count, generator_, at::TensorOptions(at::kLong)).to(device_);
}

std::unique_ptr<Training> train_by(std::shared_ptr<torch::nn::Module> model,
                                   std::unique_ptr<Optimizer> optimizer, Loss loss) {
  return std::make_unique<PlainTraining>(std::move(model), std::move(optimizer), std::move(loss));
}

std::unique_ptr<Training> train(std::shared_ptr<torch::nn::Module> model,
                                std::unique_ptr<Optimizer> optimizer, Loss loss) {
  return train_by(std::move(model), std::move(optimizer), [loss = std::move(loss)](int i) {
    const at::Tensor result = loss(i);
    result.backward();
    return result.detach();
  });
}

std::unique_ptr<Optimizer> make_sgd(const torch::nn::Module& model, double rate) {
  return wrap(model.parameters(),
              std::make_unique<torch::optim::SGD>(model.parameters(),
                                                  torch::optim::SGDOptions(rate).momentum(0.9)));
}

std::unique_ptr<Optimizer> make_adam(const torch::nn::Module& model, double rate) {
  return wrap(model.parameters(), std::make_unique<torch::optim::Adam>(
                                      model.parameters(), torch::optim::AdamOptions(rate)));
}

}  // namespace lowtide::torch_test
