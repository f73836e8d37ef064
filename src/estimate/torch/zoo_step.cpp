// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "estimate/torch/zoo_step.h"

#include <optional>
#include <utility>
#include <vector>

#include <ATen/ATen.h>

#include "train/numerics.h"
#include "train/optimizer.h"
#include "zoo/catalogue.h"
#include "zoo/shapes_only.h"

namespace lowtide::estimate {
namespace {

template <class Items>
train::State named(const Items& items) {
  train::State result;
  for (const auto& item : items) result.push_back({item.key(), item.value()});
  return result;
}

std::vector<std::int64_t> input_sizes(const zoo::InputShape& input, std::int64_t batch) {
  if (input.kind == zoo::InputKind::kTokens) return {batch, input.context};
  return {batch, input.channels, input.size, input.size};
}

std::vector<std::int64_t> target_sizes(const zoo::InputShape& input, std::int64_t batch) {
  if (input.kind == zoo::InputKind::kTokens) return {batch, input.context};
  if (input.is_dense) return {batch, input.size, input.size};
  return {batch};
}

Trained trained_of(const std::string& name, const zoo::ModelOptions& model_options,
                   const StepOptions& options) {
  const zoo::Model model = zoo::make_model(name, model_options);
  if (options.prepare) options.prepare(*model.module);
  const bool has_tokens = model.input.kind == zoo::InputKind::kTokens;
  const auto make_batch = [model, has_tokens, batch = options.batch] {
    return std::vector<at::Tensor>{
        at::empty(input_sizes(model.input, batch), has_tokens ? at::kLong : at::kFloat),
        at::empty(target_sizes(model.input, batch), at::kLong)};
  };
  const auto loss = [model](const std::vector<at::Tensor>& inputs) {
    return model.loss(inputs[0], inputs[1]);
  };
  return {named(model.module->named_parameters()), named(model.module->named_buffers()), make_batch,
          loss};
}

// As train::Training has it.
class Stepper {
 public:
  Stepper(Trained trained, const StepOptions& options)
      : options_(options),
        trained_(std::move(trained)),
        optimizer_(train::make_optimizer(options.optimizer, trained_.parameters)) {}

  void step() {
    const std::vector<at::Tensor> batch = trained_.batch();
    for (train::NamedTensor& item : trained_.parameters) item.tensor.mutable_grad().reset();
    at::Tensor loss;
    {
      std::optional<train::Bf16Autocast> autocast;
      if (options_.has_bf16) autocast.emplace(c10::kCPU);
      loss = trained_.loss(batch);
    }
    loss.backward();
    optimizer_->step(/*rate=*/0.1);
    last_loss_ = loss.detach();
  }

  void name_tensors(Session& session) const {
    for (const train::State& state : {trained_.parameters, trained_.buffers, optimizer_->state()}) {
      train::name_tensors(state, session);
    }
  }

 private:
  const StepOptions options_;
  Trained trained_;
  std::unique_ptr<train::Optimizer> optimizer_;
  at::Tensor last_loss_;
};

}  // namespace

DryStep steady_step(const std::string& name, const StepOptions& options,
                    const std::function<Trained()>& make) {
  DryRun dry_run(options.target);
  Stepper stepper(make(), options);
  stepper.name_tensors(dry_run.session());
  // The first has no gradients of a step before.
  dry_run.session().step([&] { stepper.step(); });
  return dry_run.capture(name, [&] { stepper.step(); });
}

DryStep zoo_step(const std::string& model, const zoo::ModelOptions& model_options,
                 const StepOptions& options) {
  return steady_step(model, options, [&] { return trained_of(model, model_options, options); });
}

std::optional<TransformerSize> transformer_size(const std::string& model,
                                                const zoo::ModelOptions& options,
                                                std::int64_t batch) {
  const bool is_gpt = model.starts_with("gpt");
  if (!is_gpt && !model.starts_with("bert")) return std::nullopt;
  const char* const of_layer = is_gpt ? "ln_1.weight" : "attention_norm.weight";
  const char* const of_words = is_gpt ? "wte.weight" : "word_embeddings.weight";
  const zoo::ShapesOnly no_memory;
  const zoo::Model made = zoo::make_model(model, options);
  TransformerSize size = {.layers = 0,
                          .width = 0,
                          .heads = 0,
                          .context = made.input.context,
                          .vocabulary = made.input.vocabulary,
                          .batch = batch};
  std::vector<std::string> layers;
  for (const auto& item : made.module->named_parameters()) {
    if (item.key().ends_with(of_words)) size.width = item.value().size(1);
    if (!item.key().ends_with(of_layer)) continue;
    layers.push_back(item.key().substr(0, item.key().rfind(of_layer) - 1));
  }
  size.layers = static_cast<std::int64_t>(layers.size());
  size.middle_layer = layers[layers.size() / 2];
  // All published sizes have heads of 64, and so has a width of one's own (zoo::with_options).
  constexpr std::int64_t kHeadWidth = 64;
  size.heads = options.heads.value_or(size.width / kHeadWidth);
  return size;
}

}  // namespace lowtide::estimate
