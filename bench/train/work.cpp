// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "work.h"

#include <functional>
#include <optional>
#include <stdexcept>
#include <utility>

#include <ATen/Context.h>
#include <torch/torch.h>

#include "optimizers.h"
#include "train/numerics.h"
#include "zoo/catalogue.h"
#include "zoo/gpt.h"
#include "zoo/resnet.h"

namespace lowtide::bench {
namespace {

constexpr std::uint64_t kSeed = 1;
constexpr std::int64_t kClasses = 1000;

// The parts in which the models differ.
struct Model {
  std::shared_ptr<torch::nn::Module> module;
  std::function<at::Tensor()> loss;
  std::function<void(bool)> checkpoint_blocks;
  std::unique_ptr<Optimizer> (*make_optimizer)(std::vector<at::Tensor>);
};

// The pictures in the wanted order, and the weights alike; what is computed from them follows.
at::Tensor lay_out(const WorkOptions& options, torch::nn::Module& net, const at::Tensor& pictures) {
  if (!options.channels_last) return pictures;
  for (at::Tensor& parameter : net.parameters()) {
    if (parameter.dim() != 4) continue;
    parameter.set_data(parameter.contiguous(at::MemoryFormat::ChannelsLast));
  }
  return pictures.contiguous(at::MemoryFormat::ChannelsLast);
}

Model make_resnet(const WorkOptions& options, int depth) {
  const at::Device device(options.device);
  auto net = std::make_shared<zoo::Resnet>(zoo::ResnetOptions{.depth = depth, .classes = kClasses});
  net->to(device);
  const at::Tensor pictures = lay_out(
      options, *net,
      torch::randn({options.batch, 3, options.size, options.size}, at::TensorOptions(device)));
  const at::Tensor labels =
      torch::randint(kClasses, {options.batch}, at::TensorOptions(device).dtype(at::kLong));
  return {.module = net,
          .loss = [=] { return torch::cross_entropy_loss(net->forward(pictures), labels); },
          .checkpoint_blocks = [net](bool is_on) { net->checkpoint_blocks(is_on); },
          .make_optimizer = make_momentum};
}

Model make_gpt(const WorkOptions& options) {
  const at::Device device(options.device);
  zoo::GptOptions shape = zoo::GptOptions::medium();
  shape.layers = options.layers;
  shape.context = options.size;
  shape.vocabulary = options.vocabulary;
  auto net = std::make_shared<zoo::Gpt>(shape);
  net->to(device);
  const auto make_tokens = [&] {
    return torch::randint(options.vocabulary, {options.batch, options.size},
                          at::TensorOptions(device).dtype(at::kLong));
  };
  const at::Tensor tokens = make_tokens();
  const at::Tensor targets = make_tokens().flatten();
  const auto loss = [=] {
    const train::Bf16Autocast autocast(device.type());
    return torch::cross_entropy_loss(net->forward(tokens).flatten(0, 1), targets);
  };
  return {.module = net,
          .loss = loss,
          .checkpoint_blocks = [net](bool is_on) { net->checkpoint_blocks(is_on); },
          .make_optimizer = make_fused_adamw};
}

// Any other model of the zoo that classifies pictures.
Model make_from_zoo(const WorkOptions& options) {
  const at::Device device(options.device);
  zoo::ModelOptions shape;
  if (options.size > 0) shape.size = options.size;
  if (options.layers > 0) shape.layers = options.layers;
  const zoo::Model net = zoo::make_model(options.model, shape);
  if (net.input.kind != zoo::InputKind::kPictures || net.input.is_dense) {
    throw std::invalid_argument(options.model + " does not classify pictures");
  }
  net.module->to(device);
  const at::Tensor pictures =
      lay_out(options, *net.module,
              torch::randn({options.batch, net.input.channels, net.input.size, net.input.size},
                           at::TensorOptions(device)));
  const at::Tensor labels = torch::randint(net.input.classes, {options.batch},
                                           at::TensorOptions(device).dtype(at::kLong));
  return {.module = net.module,
          .loss = [=] { return net.loss(pictures, labels); },
          .checkpoint_blocks = [](bool) {},
          .make_optimizer = make_momentum};
}

Model make_model(const WorkOptions& options) {
  torch::manual_seed(kSeed);
  const std::string resnet = "resnet";
  if (options.model.starts_with(resnet)) {
    return make_resnet(options, std::stoi(options.model.substr(resnet.size())));
  }
  if (options.model == "gpt2-medium") return make_gpt(options);
  return make_from_zoo(options);
}

std::vector<std::int64_t> sums_of_bits(const std::vector<at::Tensor>& tensors) {
  std::vector<std::int64_t> sums;
  for (const at::Tensor& tensor : tensors) {
    const at::Tensor flat = tensor.detach().reshape({-1});
    const bool is_real = flat.is_floating_point();
    sums.push_back((is_real ? flat.view(at::kInt) : flat).sum(at::kLong).item<std::int64_t>());
  }
  return sums;
}

class Training final : public Work {
 public:
  explicit Training(Model model)
      : model_(std::move(model)),
        parameters_(model_.module->parameters()),
        buffers_(model_.module->buffers()) {
    for (const at::Tensor& tensor : parameters_) first_.push_back(tensor.detach().cpu().clone());
    for (const at::Tensor& tensor : buffers_) first_.push_back(tensor.cpu().clone());
  }

  void begin(bool checkpoint_blocks) override {
    end();
    const torch::NoGradGuard no_grad;
    std::size_t i = 0;
    for (at::Tensor& tensor : parameters_) tensor.copy_(first_[i++]);
    for (at::Tensor& tensor : buffers_) tensor.copy_(first_[i++]);
    model_.checkpoint_blocks(checkpoint_blocks);
    optimizer_ = model_.make_optimizer(parameters_);
    torch::manual_seed(kSeed + 1);
  }

  void step() override {
    free_gradients();
    const at::Tensor loss = model_.loss();
    loss.backward();
    optimizer_->step();
    losses_.push_back(loss.detach());
  }

  Outcome outcome() override {
    Outcome outcome;
    for (const at::Tensor& loss : losses_) outcome.losses.push_back(loss.item<float>());
    outcome.parameters = sums_of_bits(parameters_);
    outcome.buffers = sums_of_bits(buffers_);
    return outcome;
  }

  void end() override {
    free_gradients();
    optimizer_.reset();
    losses_.clear();
  }

 private:
  void free_gradients() {
    for (at::Tensor& parameter : parameters_) parameter.mutable_grad().reset();
  }

  Model model_;
  std::vector<at::Tensor> parameters_, buffers_;
  // In host memory.
  std::vector<at::Tensor> first_;
  std::unique_ptr<Optimizer> optimizer_;
  std::vector<at::Tensor> losses_;
};

}  // namespace

WorkOptions with_defaults(WorkOptions options) {
  const bool is_gpt = options.model.starts_with("gpt");
  if (options.batch == 0) options.batch = is_gpt ? 8 : 128;
  if (options.size == 0 && is_gpt) options.size = 1024;
  if (options.size == 0 && options.model.starts_with("resnet")) options.size = 224;
  if (options.layers == 0 && is_gpt) options.layers = zoo::GptOptions::medium().layers;
  return options;
}

std::unique_ptr<Work> make_work(const WorkOptions& options) {
  return std::make_unique<Training>(make_model(with_defaults(options)));
}

void set_numerics(const WorkOptions& options) {
  const bool is_text = options.model.starts_with("gpt");
  train::make_deterministic(is_text ? zoo::InputKind::kTokens : zoo::InputKind::kPictures,
                            c10::Device(options.device));
  at::globalContext().setAllowTF32CuBLAS(true);
  at::globalContext().setAllowTF32CuDNN(true);
}

}  // namespace lowtide::bench
