// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "decompose/rewrite.h"

#include <algorithm>
#include <functional>
#include <map>
#include <utility>

#include <ATen/ATen.h>
#include <torch/nn/module.h>
#include <torch/nn/modules/conv.h>
#include <torch/nn/modules/embedding.h>
#include <torch/nn/modules/linear.h>

#include "base/check.h"
#include "base/suggest.h"
#include "decompose/factors.h"
#include "decompose/noise.h"
#include "decompose/stand_in.h"

namespace lowtide {
namespace {

using decompose::Factor;
using decompose::StandIn;
using torch::nn::Module;

// A module adds parameters but takes none back; what a subclass may do, its members' addresses
// tell.
struct ParametersOf : Module {
  static constexpr auto kMember = &ParametersOf::parameters_;
};

// Norm of what is lost over norm of the weight.
constexpr double kHardlyAnything = 1e-3;

struct Layer {
  std::string name;
  Module* module = nullptr;
  // The member of the layer.
  at::Tensor* weight = nullptr;
  std::int64_t groups = 1;
  bool is_convolution = false;
};

void visit(const Module& module, const std::string& name,
           const std::function<void(const std::string&, Module&)>& handle) {
  handle(name, const_cast<Module&>(module));
  for (const auto& child : module.named_children()) {
    visit(*child.value(), name.empty() ? child.key() : name + "." + child.key(), handle);
  }
}

std::vector<Layer> layers_of(const Module& model) {
  std::vector<Layer> layers;
  visit(model, "", [&](const std::string& name, Module& module) {
    if (auto* conv = module.as<torch::nn::Conv2dImpl>()) {
      layers.push_back({name, conv, &conv->weight, conv->options.groups(), true});
    } else if (auto* linear = module.as<torch::nn::LinearImpl>()) {
      layers.push_back({name, linear, &linear->weight, 1, false});
    }
  });
  return layers;
}

// The same for two tensors that begin at the same element of one memory.
using Place = std::pair<const void*, std::int64_t>;
using Uses = std::map<Place, int>;

Place place_of(const at::Tensor& tensor) {
  if (!tensor.has_storage()) return {tensor.unsafeGetTensorImpl(), 0};
  return {tensor.storage().unsafeGetStorageImpl(), tensor.storage_offset()};
}

// What of a module's members libtorch's layers use as weights, be they registered there or not.
const at::Tensor* weight_member(Module& module) {
  if (auto* conv = module.as<torch::nn::Conv2dImpl>()) return &conv->weight;
  if (auto* linear = module.as<torch::nn::LinearImpl>()) return &linear->weight;
  if (auto* embedding = module.as<torch::nn::EmbeddingImpl>()) return &embedding->weight;
  return nullptr;
}

// In how many places of the model each parameter is. A weight may be tied by its member alone:
// head->weight = embedding->weight.
Uses uses_of_parameters(const Module& model) {
  Uses uses;
  visit(model, "", [&](const std::string&, Module& module) {
    const at::Tensor* member = weight_member(module);
    bool is_own =
        member == nullptr || !member->defined() || decompose::stand_in_of(*member) != nullptr;
    for (const auto& item : module.named_parameters(/*recurse=*/false)) {
      ++uses[place_of(item.value())];
      is_own = is_own || place_of(item.value()) == place_of(*member);
    }
    if (!is_own) ++uses[place_of(*member)];
  });
  return uses;
}

std::string refusal_of(const Layer& layer, const Uses& uses) {
  if (layer.groups != 1) {
    return base::concat("a grouped convolution (", layer.groups,
                        " groups) is not decomposed: its groups are small already");
  }
  const auto found = uses.find(place_of(*layer.weight));
  if (found != uses.end() && found->second > 1) return "its weight is shared with another layer";
  return {};
}

Layer find_layer(const Module& model, const std::string& name) {
  std::vector<std::string> names;
  for (Layer& layer : layers_of(model)) {
    if (layer.name == name) return layer;
    names.push_back(layer.name);
  }
  visit(model, "", [&](const std::string& other, Module& module) {
    LT_REQUIRE(other != name, "layer '", name, "' is a ", module.name(),
               ", and only Conv2d and Linear are decomposed");
  });
  throw InvalidInput(base::concat("there is no convolution or linear layer '", name, "'",
                                  base::suggestion(name, names)));
}

// Puts these where the weight, or its factors, are among the layer's parameters. A subclass may
// have others, whatever they are called.
void replace_parameters(Layer& layer, const std::vector<Factor>& parameters) {
  auto& items = layer.module->*ParametersOf::kMember;
  const StandIn* stand_in = decompose::stand_in_of(*layer.weight);
  const auto is_replaced = [&](const std::string& name) {
    if (stand_in == nullptr) return name == "weight";
    const std::vector<Factor>& factors = stand_in->factored.factors;
    return std::any_of(factors.begin(), factors.end(),
                       [&](const Factor& factor) { return factor.name == name; });
  };
  std::remove_reference_t<decltype(items)> others(items.key_description());
  for (const auto& item : items) {
    if (!is_replaced(item.key())) others.insert(item.key(), item.value());
  }
  for (const Factor& factor : parameters) {
    LT_REQUIRE(!others.contains(factor.name) &&
                   !layer.module->named_buffers(/*recurse=*/false).contains(factor.name),
               "layer '", layer.name, "' has a parameter or buffer ", factor.name, " of its own");
  }
  items.clear();
  for (const Factor& factor : parameters) {
    layer.module->register_parameter(factor.name, factor.tensor, factor.tensor.requires_grad());
  }
  for (const auto& item : others) items.insert(item.key(), item.value());
}

void install(Layer& layer, decompose::Factored factored) {
  const bool is_trained = layer.weight->requires_grad();
  for (Factor& factor : factored.factors) factor.tensor.set_requires_grad(is_trained);
  replace_parameters(layer, factored.factors);
  *layer.weight = decompose::make_stand_in(
      {.layer = layer.name, .sizes = layer.weight->sizes().vec(), .factored = std::move(factored)});
}

// Gives whether it was decomposed.
bool merge(Layer& layer) {
  const at::NoGradGuard no_grad;
  const StandIn* stand_in = decompose::stand_in_of(*layer.weight);
  if (stand_in == nullptr) return false;
  at::Tensor dense = decompose::reconstruct(stand_in->factored, stand_in->sizes).contiguous();
  dense.set_requires_grad(stand_in->factored.factors[0].tensor.requires_grad());
  replace_parameters(layer, {{"weight", dense}});
  *layer.weight = dense;
  return true;
}

Layer layer_to_change(const Module& model, const std::string& name) {
  Layer layer = find_layer(model, name);
  LT_REQUIRE(decompose::stand_in_of(*layer.weight) == nullptr, "layer '", name,
             "' is decomposed already; merge it first");
  const std::string refusal = refusal_of(layer, uses_of_parameters(model));
  LT_REQUIRE(refusal.empty(), "layer '", name, "': ", refusal);
  return layer;
}

template <class Body>
auto in_layer(const std::string& name, const Body& body) {
  try {
    return body();
  } catch (const InvalidInput& error) {
    throw InvalidInput(base::concat("layer '", name, "': ", error.what()));
  }
}

}  // namespace

std::vector<LayerInfo> list_layers(const Module& model) {
  const Uses uses = uses_of_parameters(model);
  std::vector<LayerInfo> result;
  for (const Layer& layer : layers_of(model)) {
    const at::IntArrayRef sizes = layer.weight->sizes();
    LayerInfo info = {.name = layer.name,
                      .is_convolution = layer.is_convolution,
                      .outputs = sizes[0],
                      .inputs = sizes[1] * layer.groups,
                      .kernel_height = layer.is_convolution ? sizes[2] : 1,
                      .kernel_width = layer.is_convolution ? sizes[3] : 1,
                      .refusal = refusal_of(layer, uses)};
    const StandIn* stand_in = decompose::stand_in_of(*layer.weight);
    if (stand_in != nullptr) info.form = stand_in->factored.form;
    info.parameters = decompose::count_parameters(info.form, sizes);
    result.push_back(std::move(info));
  }
  return result;
}

DecomposedLayer decompose_layer(Module& model, const std::string& name, const LayerForm& form,
                                UntrainedWeights untrained) {
  Layer layer = layer_to_change(model, name);
  auto found = in_layer(name, [&] { return decompose::factorise(*layer.weight, form); });
  LT_REQUIRE(untrained == UntrainedWeights::kTaken || found.relative_error < kHardlyAnything ||
                 !decompose::is_noise(*layer.weight),
             "layer '", name,
             "': the weight looks untrained: nothing of it stands out of random numbers, so ",
             to_string(form), " loses what there is; train the model first, or pass ",
             "UntrainedWeights::kTaken");
  const auto sizes = layer.weight->sizes().vec();
  install(layer, std::move(found.factored));
  return {.name = name,
          .form = form,
          .relative_error = found.relative_error,
          .parameters_before = c10::multiply_integers(sizes),
          .parameters_after = decompose::count_parameters(form, sizes)};
}

void prepare_layer(Module& model, const std::string& name, const LayerForm& form) {
  Layer layer = layer_to_change(model, name);
  decompose::Factored factored = {.form = form, .factors = {}};
  const auto shapes =
      in_layer(name, [&] { return decompose::factor_shapes(form, layer.weight->sizes()); });
  for (const auto& [factor, shape] : shapes) {
    factored.factors.push_back({factor, at::zeros(shape, layer.weight->options())});
  }
  install(layer, std::move(factored));
}

std::int64_t merge_layers(Module& model) {
  std::int64_t count = 0;
  for (Layer& layer : layers_of(model)) count += merge(layer) ? 1 : 0;
  return count;
}

}  // namespace lowtide

namespace lowtide::decompose {

at::Tensor weight_of_layer(Module& model, const std::string& layer) {
  return *find_layer(model, layer).weight;
}

void merge_layer(Module& model, const std::string& layer) {
  Layer found = find_layer(model, layer);
  static_cast<void>(merge(found));
}

at::Tensor run_layer(Module& model, const std::string& layer, const at::Tensor& input) {
  Module* module = find_layer(model, layer).module;
  if (auto* conv = module->as<torch::nn::Conv2dImpl>()) return conv->forward(input);
  const auto* linear = module->as<torch::nn::LinearImpl>();
  return at::linear(input, linear->weight, linear->bias);
}

std::map<std::string, LayerInput> observe_inputs(Module& model, const std::function<void()>& run) {
  std::map<std::string, LayerInput> inputs;
  // Puts the weights back, however this ends.
  struct Members {
    ~Members() {
      for (auto& [layer, weight] : weights) *layer.weight = weight;
    }
    std::vector<std::pair<Layer, at::Tensor>> weights;
  } members;
  const Uses uses = uses_of_parameters(model);
  for (Layer& layer : layers_of(model)) {
    if (!refusal_of(layer, uses).empty()) continue;
    const at::Tensor weight = *layer.weight;
    members.weights.emplace_back(layer, weight);
    *layer.weight = make_stand_in(
        {.layer = layer.name,
         .sizes = weight.sizes().vec(),
         .factored = {.form = {.is_reconstructed = true}, .factors = {{"weight", weight}}},
         .on_use = [&inputs, name = layer.name](const at::Tensor& input) {
           inputs.try_emplace(name, LayerInput{input.sizes().vec(), input.requires_grad()});
         }});
  }
  run();
  return inputs;
}

}  // namespace lowtide::decompose
