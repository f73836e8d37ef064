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

// Of the layer's parameters. The model itself may be the layer.
std::string prefix_of(const std::string& layer) { return layer.empty() ? "" : layer + "."; }

// The sizes of a layer's factors in a state, by name.
std::map<std::string, std::vector<std::int64_t>> factor_sizes(const State& state,
                                                              const std::string& prefix) {
  constexpr const char* kNames[] = {"weight_in",     "weight_core", "weight_space",
                                    "weight_column", "weight_row",  "weight_out"};
  std::map<std::string, std::vector<std::int64_t>> sizes;
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

// The layer gets the form whose factors the state has.
void follow(Module& model, const LayerInfo& layer, const State& state, at::IntArrayRef sizes) {
  const auto found = factor_sizes(state, prefix_of(layer.name));
  std::optional<LayerForm> form = decompose::form_with(found, sizes);
  LT_REQUIRE(form, "the factors of layer '", layer.name,
             "' in the state do not go with a weight of the sizes ", sizes);
  // Factors do not tell whether a layer puts its weight together from them.
  form->is_reconstructed = layer.form.is_reconstructed;
  if (layer.form == *form) return;
  decompose::merge_layer(model, layer.name);
  prepare_layer(model, layer.name, *form);
}

// Takes what it copies out of `state`.
template <class Items>
void copy_out_of(State& state, const Items& items) {
  for (const auto& item : items) {
    const auto found = state.find(item.key());
    LT_REQUIRE(found != state.end(), "the weights have no ", item.key(),
               "; were they made with other options of the model?");
    LT_REQUIRE(found->second.sizes() == item.value().sizes(), item.key(), " has the sizes ",
               found->second.sizes(), " in the weights and ", item.value().sizes(),
               " in the model; were they made with other options of the model?");
    item.value().copy_(found->second);
    state.erase(found);
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
  State left = state;
  for (const LayerInfo& layer : list_layers(model)) {
    const auto sizes = decompose::weight_of_layer(model, layer.name).sizes().vec();
    const std::string prefix = prefix_of(layer.name);
    const bool is_dense = layer.form.method == Decomposition::kDense;
    if (!is_dense && left.contains(prefix + "weight")) {
      decompose_in(left, layer, sizes);
    } else if (left.contains(prefix + "weight_in") && !left.contains(prefix + "weight")) {
      follow(model, layer, left, sizes);
    }
  }
  copy_out_of(left, model.named_parameters());
  copy_out_of(left, model.named_buffers());
  LT_REQUIRE(left.empty(), "the model has no ", left.begin()->first,
             ", which the weights have; were they made with other options of the model?");
}

}  // namespace lowtide
