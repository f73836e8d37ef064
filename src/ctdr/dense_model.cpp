// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "ctdr/dense_model.h"

#include <utility>

#include <ATen/ATen.h>
#include <torch/nn/module.h>

#include "base/check.h"
#include "decompose/widen.h"

namespace lowtide::ctdr {
namespace {

constexpr std::string_view kParameter = "parameter/";
constexpr std::string_view kBuffer = "buffer/";

template <class Items>
void copy_into(const Items& items, const std::map<std::string, at::Tensor>& values) {
  for (const auto& item : items) item.value().copy_(values.at(item.key()));
}

// The factors of a layer, which are no longer among the values then.
decompose::Factored take_factors(std::map<std::string, at::Tensor>& values,
                                 const std::string& layer, const LayerForm& form,
                                 const at::Tensor& weight) {
  decompose::Factored result = {.form = form, .factors = {}};
  for (const auto& [name, shape] : decompose::factor_shapes(form, weight.sizes())) {
    const auto found = values.find(layer + "." + name);
    LT_CHECK(found != values.end(), "no factor ", layer, ".", name);
    result.factors.push_back({name, found->second.to(weight.device())});
    values.erase(found);
  }
  return result;
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

DenseModel::DenseModel(const train::TrainingOptions& options, const train::State& state,
                       int cp_sweeps)
    : options_(options), cp_sweeps_(cp_sweeps) {
  for (const auto& [name, tensor] : state) {
    if (name.starts_with(kParameter)) {
      parameters_[name.substr(kParameter.size())] = tensor.detach().clone();
    } else if (name.starts_with(kBuffer)) {
      buffers_[name.substr(kBuffer.size())] = tensor.detach().clone();
    }
  }
}

train::State DenseModel::state() const {
  train::State state;
  for (const auto& [name, tensor] : parameters_) {
    state.push_back({std::string(kParameter) + name, tensor});
  }
  for (const auto& [name, tensor] : buffers_) {
    state.push_back({std::string(kBuffer) + name, tensor});
  }
  return state;
}

const at::Tensor& DenseModel::weight(const std::string& layer) const {
  const auto found = parameters_.find(layer + ".weight");
  LT_REQUIRE(found != parameters_.end(), "the model has no layer '", layer, "' with a weight");
  return found->second;
}

const decompose::Factorisation& DenseModel::factors(const std::string& layer,
                                                    const LayerForm& form) {
  // Whether the weight is put together again makes no difference to its factors.
  LayerForm plain = form;
  plain.is_reconstructed = false;
  const auto [found, is_new] = factors_.try_emplace({layer, to_string(plain)});
  if (is_new) {
    try {
      found->second = in_layer(layer, [&] {
        return decompose::factorise(weight(layer), plain, vectors_[layer], cp_sweeps_);
      });
    } catch (...) {
      factors_.erase(found);
      throw;
    }
  }
  return found->second;
}

const decompose::Spectrum& DenseModel::spectrum(const std::string& layer) {
  const auto found = spectra_.find(layer);
  if (found != spectra_.end()) return found->second;
  return spectra_[layer] = in_layer(
             layer, [&] { return decompose::spectrum_of(weight(layer), vectors_[layer]); });
}

train::TrainingOptions DenseModel::with(const Forms& forms) {
  train::TrainingOptions result = options_;
  result.prepare = [this, forms](torch::nn::Module& model) {
    load(model);
    give_forms(model, forms);
  };
  return result;
}

train::TrainingOptions DenseModel::with(const Forms& forms, const TunedModel& tuned) {
  const at::NoGradGuard no_grad;
  std::map<std::string, at::Tensor> values = tuned.values;
  for (const auto& [layer, form] : tuned.forms) {
    const decompose::Factored narrow = take_factors(values, layer, form, weight(layer));
    const auto found = forms.find(layer);
    if (found == forms.end()) {
      values[layer + ".weight"] = decompose::reconstruct(narrow, weight(layer).sizes());
      continue;
    }
    for (const decompose::Factor& factor : grown(layer, narrow, found->second).factors) {
      values[layer + "." + factor.name] = factor.tensor;
    }
  }
  train::TrainingOptions result = options_;
  result.prepare = [forms, values = std::move(values)](torch::nn::Module& model) {
    const at::NoGradGuard still_none;
    for (const auto& [layer, form] : forms) prepare_layer(model, layer, form);
    copy_into(model.named_parameters(), values);
    copy_into(model.named_buffers(), values);
  };
  return result;
}

decompose::Factored DenseModel::grown(const std::string& layer, const decompose::Factored& narrow,
                                      const LayerForm& form) {
  if (narrow.form.method == form.method && narrow.form.ranks == form.ranks) return narrow;
  try {
    return decompose::widened(narrow, form, weight(layer), cp_sweeps_);
  } catch (const InvalidInput&) {
    return factors(layer, form).factored;
  }
}

void DenseModel::load(torch::nn::Module& model) const {
  const at::NoGradGuard no_grad;
  copy_into(model.named_parameters(), parameters_);
  copy_into(model.named_buffers(), buffers_);
}

void DenseModel::give_forms(torch::nn::Module& model, const Forms& forms) {
  const at::NoGradGuard no_grad;
  for (const auto& [layer, form] : forms) {
    const decompose::Factorisation& found = factors(layer, form);
    prepare_layer(model, layer, form);
    const auto parameters = model.named_parameters();
    for (const decompose::Factor& factor : found.factored.factors) {
      parameters[layer + "." + factor.name].copy_(factor.tensor);
    }
  }
}

}  // namespace lowtide::ctdr
