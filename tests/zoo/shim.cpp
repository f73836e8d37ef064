// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include <algorithm>
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

// The options for these inputs, without dropout where the model has any.
zoo::ModelOptions options_for(const std::string& name, const at::Tensor& pictures,
                              std::int64_t classes) {
  zoo::ModelOptions options = {.size = pictures.size(2), .classes = classes};
  for (const zoo::ModelInfo& info : zoo::catalogue()) {
    const auto& known = info.options;
    if (info.name == name && std::find(known.begin(), known.end(), "dropout") != known.end()) {
      options.dropout = 0;
    }
  }
  return options;
}

void load(const zoo::Model& model, const Tensors& state) {
  const at::NoGradGuard no_grad;
  for (const auto& [key, tensor] : state_of(model)) tensor.copy_(state.at(key));
}

// One forward and backward in training mode, from the given state: the scores, the loss, each
// parameter's gradient under its name, and the state of each buffer afterwards.
Tensors step(const std::string& name, std::int64_t classes, const Tensors& state,
             const at::Tensor& pictures, const at::Tensor& targets) {
  const zoo::Model model = zoo::make_model(name, options_for(name, pictures, classes));
  load(model, state);
  Tensors result;
  {
    const at::NoGradGuard no_grad;
    result.insert("scores", model.forward(pictures));
  }
  // The forward above moved what norms remember.
  load(model, state);
  const at::Tensor loss = model.loss(pictures, targets);
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
  library.def("step", &step);
}

}  // namespace
}  // namespace lowtide
