// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include <ATen/core/Dict.h>
#include <torch/library.h>

#include "zoo/catalogue.h"
#include "zoo/shapes_only.h"

// Models of the zoo as operators, for the tests of this folder.

namespace lowtide {
namespace {

using Tensors = c10::Dict<std::string, at::Tensor>;
using Numbers = c10::Dict<std::string, std::int64_t>;
using Shapes = c10::Dict<std::string, std::vector<std::int64_t>>;

// All parameters and buffers, as Python's state_dict() has them.
std::vector<std::pair<std::string, at::Tensor>> state_of(const zoo::Model& model) {
  std::vector<std::pair<std::string, at::Tensor>> state;
  for (const auto& item : model.module->named_parameters()) state.emplace_back(item.pair());
  for (const auto& item : model.module->named_buffers()) state.emplace_back(item.pair());
  return state;
}

Shapes shapes(const std::string& name) {
  const zoo::ShapesOnly shapes_only;
  Shapes result;
  for (const auto& [key, tensor] : state_of(zoo::make_model(name))) {
    result.insert(key, tensor.sizes().vec());
  }
  return result;
}

// The model with these options, and without dropout where it has any.
zoo::Model make(const std::string& name, const Numbers& numbers) {
  const std::map<std::string, std::optional<std::int64_t> zoo::ModelOptions::*> members = {
      {"size", &zoo::ModelOptions::size},       {"classes", &zoo::ModelOptions::classes},
      {"layers", &zoo::ModelOptions::layers},   {"width", &zoo::ModelOptions::width},
      {"heads", &zoo::ModelOptions::heads},     {"vocabulary", &zoo::ModelOptions::vocabulary},
      {"context", &zoo::ModelOptions::context},
  };
  zoo::ModelOptions options;
  for (const auto& item : numbers) options.*members.at(item.key()) = item.value();
  for (const zoo::ModelInfo& info : zoo::catalogue()) {
    const auto& known = info.options;
    if (info.name == name && std::find(known.begin(), known.end(), "dropout") != known.end()) {
      options.dropout = 0;
    }
  }
  return zoo::make_model(name, options);
}

// A new model's parameters and buffers.
Tensors first_values(const std::string& name, const Numbers& options) {
  Tensors result;
  for (const auto& [key, tensor] : state_of(make(name, options))) {
    result.insert(key, tensor.detach());
  }
  return result;
}

void load(const zoo::Model& model, const Tensors& state) {
  const at::NoGradGuard no_grad;
  for (const auto& [key, tensor] : state_of(model)) tensor.copy_(state.at(key));
}

// One forward and backward in training mode, from the given state: the scores, the loss, each
// parameter's gradient under its name, and the state of each buffer afterwards.
Tensors step(const std::string& name, const Numbers& options, const Tensors& state,
             const at::Tensor& inputs, const at::Tensor& targets) {
  const zoo::Model model = make(name, options);
  load(model, state);
  Tensors result;
  {
    const at::NoGradGuard no_grad;
    result.insert("scores", model.forward(inputs));
  }
  // The forward above moved what norms remember.
  load(model, state);
  const at::Tensor loss = model.loss(inputs, targets);
  loss.backward();
  result.insert("loss", loss.detach());
  for (const auto& item : model.module->named_parameters()) {
    result.insert(item.key(), item.value().grad());
  }
  for (const auto& item : model.module->named_buffers()) result.insert(item.key(), item.value());
  return result;
}

TORCH_LIBRARY(lowtide_zoo, library) {
  library.def("shapes", &shapes);
  library.def("first_values", &first_values);
  library.def("step", &step);
}

}  // namespace
}  // namespace lowtide
