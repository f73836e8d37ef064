// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include <string>
#include <utility>
#include <vector>

#include <ATen/ATen.h>
#include <torch/nn/module.h>

#include "base/check.h"
#include "decompose/factors.h"
#include "decompose/rewrite.h"
#include "decompose/stand_in.h"
#include "lowtide/decompose.h"

// States of models with decomposed layers, of lowtide/decompose.h.

namespace lowtide {
namespace {

using torch::nn::Module;
using State = std::map<std::string, at::Tensor>;
using Sizes = std::map<std::string, std::vector<std::int64_t>>;

// Of the layer's parameters. The model itself may be the layer.
std::string prefix_of(const std::string& layer) { return layer.empty() ? "" : layer + "."; }

// The sizes of a layer's factors in a state, by name.
Sizes factor_sizes(const State& state, const std::string& prefix) {
  constexpr const char* kNames[] = {"weight_in",     "weight_core", "weight_space",
                                    "weight_column", "weight_row",  "weight_out"};
  Sizes sizes;
  for (const char* name : kNames) {
    const auto found = state.find(prefix + name);
    if (found != state.end()) sizes[name] = found->second.sizes().vec();
  }
  return sizes;
}

// The dense weight in the state becomes factors of the layer's form.
void decompose_in(State& state, const LayerInfo& layer, at::IntArrayRef sizes) {
  const auto weight = state.extract(prefix_of(layer.name) + "weight");
  LT_REQUIRE(weight.mapped().sizes() == sizes, weight.key(), " has the sizes ",
             weight.mapped().sizes(), " in the state and ", sizes, " in the model");
  try {
    for (const decompose::Factor& factor :
         decompose::factorise(weight.mapped(), layer.form).factored.factors) {
      state[prefix_of(layer.name) + factor.name] = factor.tensor;
    }
  } catch (const InvalidInput& error) {
    throw InvalidInput(base::concat("layer '", layer.name, "': ", error.what()));
  }
}

// The form whose factors the state has.
LayerForm form_in(const State& state, const LayerInfo& layer, at::IntArrayRef sizes) {
  LT_REQUIRE(layer.refusal.empty(), "layer '", layer.name, "': ", layer.refusal);
  const auto found = factor_sizes(state, prefix_of(layer.name));
  std::optional<LayerForm> form = decompose::form_with(found, sizes);
  LT_REQUIRE(form, "the factors of layer '", layer.name,
             "' in the state do not go with a weight of the sizes ", sizes);
  // Factors do not tell whether a layer puts its weight together from them.
  form->is_reconstructed = layer.form.is_reconstructed;
  return *form;
}

struct OtherForm {
  LayerForm before, form;
  std::vector<std::int64_t> weight_sizes;
};
using OtherForms = std::map<std::string, OtherForm>;

Sizes sizes_of(const LayerForm& form, at::IntArrayRef weight_sizes) {
  if (form.method == Decomposition::kDense) return {{"weight", weight_sizes.vec()}};
  const auto shapes = decompose::factor_shapes(form, weight_sizes);
  return {shapes.begin(), shapes.end()};
}

// Of the model's parameters and buffers once layers have these forms.
Sizes sizes_with(const Module& model, const OtherForms& forms) {
  Sizes sizes;
  for (const auto& item : model.named_parameters()) sizes[item.key()] = item.value().sizes().vec();
  for (const auto& item : model.named_buffers()) sizes[item.key()] = item.value().sizes().vec();
  for (const auto& [layer, other] : forms) {
    const std::string prefix = prefix_of(layer);
    for (const auto& [name, unused] : sizes_of(other.before, other.weight_sizes)) {
      sizes.erase(prefix + name);
    }
    for (auto& [name, size] : sizes_of(other.form, other.weight_sizes)) {
      sizes[prefix + name] = size;
    }
  }
  return sizes;
}

// Nothing is missing, too much or of other sizes.
void require_whole(const State& state, const Sizes& sizes) {
  for (const auto& [name, size] : sizes) {
    const auto found = state.find(name);
    LT_REQUIRE(found != state.end(), "the weights have no ", name,
               "; were they made with other options of the model?");
    LT_REQUIRE(found->second.sizes() == size, name, " has the sizes ", found->second.sizes(),
               " in the weights and ", at::IntArrayRef(size),
               " in the model; were they made with other options of the model?");
  }
  for (const auto& [name, tensor] : state) {
    LT_REQUIRE(sizes.contains(name), "the model has no ", name,
               ", which the weights have; were they made with other options of the model?");
  }
}

}  // namespace

std::map<std::string, at::Tensor> dense_state(const Module& model) {
  const at::NoGradGuard no_grad;
  State state;
  for (const auto& item : model.named_parameters()) state[item.key()] = item.value().clone();
  for (const auto& item : model.named_buffers()) state[item.key()] = item.value().clone();
  for (const LayerInfo& layer : list_layers(model)) {
    if (layer.form.method == Decomposition::kDense) continue;
    const at::Tensor weight = decompose::weight_of_layer(const_cast<Module&>(model), layer.name);
    const decompose::StandIn& stand_in = *decompose::stand_in_of(weight);
    for (const decompose::Factor& factor : stand_in.factored.factors) {
      state.erase(prefix_of(layer.name) + factor.name);
    }
    state[prefix_of(layer.name) + "weight"] =
        decompose::reconstruct(stand_in.factored, stand_in.sizes).contiguous();
  }
  return state;
}

void load_state(Module& model, const std::map<std::string, at::Tensor>& state) {
  const at::NoGradGuard no_grad;
  State whole = state;
  OtherForms forms;
  for (const LayerInfo& layer : list_layers(model)) {
    const auto sizes = decompose::weight_of_layer(model, layer.name).sizes().vec();
    const std::string prefix = prefix_of(layer.name);
    const bool is_dense = layer.form.method == Decomposition::kDense;
    if (!is_dense && whole.contains(prefix + "weight")) {
      decompose_in(whole, layer, sizes);
    } else if (whole.contains(prefix + "weight_in") && !whole.contains(prefix + "weight")) {
      const LayerForm form = form_in(whole, layer, sizes);
      if (form != layer.form) forms[layer.name] = {layer.form, form, sizes};
    }
  }
  require_whole(whole, sizes_with(model, forms));
  // From here on nothing is in the way.
  for (const auto& [layer, other] : forms) {
    decompose::merge_layer(model, layer);
    prepare_layer(model, layer, other.form);
  }
  for (const auto& item : model.named_parameters()) item.value().copy_(whole.at(item.key()));
  for (const auto& item : model.named_buffers()) item.value().copy_(whole.at(item.key()));
}

}  // namespace lowtide
