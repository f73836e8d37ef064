// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "estimate/torch/dry_run.h"
#include "estimate/transformer_formulas.h"
#include "train/named_tensor.h"
#include "zoo/model.h"

namespace lowtide::estimate {

// How a model is to be trained, as far as memory goes.
struct StepOptions {
  std::int64_t batch = 32;
  std::string optimizer = "sgd";
  bool has_bf16 = false;
  Target target = Target::kGpu;
  // What is done to the new model before the optimizer knows it, as TrainingOptions::prepare is: of
  // models of the zoo only. Empty: nothing.
  std::function<void(torch::nn::Module&)> prepare{};
};

// What a step trains: its loss, and what the optimizer changes.
struct Trained {
  train::State parameters;
  train::State buffers;
  // Inputs and targets, and the loss of them.
  std::function<std::vector<at::Tensor>()> batch;
  std::function<at::Tensor(const std::vector<at::Tensor>&)> loss;
};

// A step of its training once steps repeat themselves: the optimizer's states are there, and the
// gradients of the step before until it lets them go. `make` is called under the dry run.
DryStep steady_step(const std::string& name, const StepOptions& options,
                    const std::function<Trained()>& make);

// The same for a model of the zoo. Throws InvalidInput as zoo::make_model does.
DryStep zoo_step(const std::string& model, const zoo::ModelOptions& model_options,
                 const StepOptions& options);

// What formulas take of a model of the families GPT and BERT; nothing for others.
std::optional<TransformerSize> transformer_size(const std::string& model,
                                                const zoo::ModelOptions& options,
                                                std::int64_t batch);

}  // namespace lowtide::estimate
