// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "ctdr/forms_file.h"

#include <cmath>
#include <fstream>
#include <numeric>
#include <sstream>
#include <utility>

#include <ATen/ATen.h>
#include <nlohmann/json.hpp>
#include <torch/nn/module.h>

#include "base/check.h"
#include "decompose/rewrite.h"

namespace lowtide::ctdr {
namespace {

// An element of the weight is a sum of as many products as the ranks allow, one element of each
// factor in each product.
double deviation_of_factors(const at::Tensor& weight, const LayerForm& form, std::size_t factors) {
  const auto terms = std::accumulate(
      form.ranks.begin(), form.ranks.end(), 1.0,
      [](double product, std::int64_t rank) { return product * static_cast<double>(rank); });
  const double variance = weight.square().mean().item<double>() / terms;
  return std::pow(variance, 0.5 / static_cast<double>(factors));
}

void start_layer(torch::nn::Module& model, const std::string& layer, const LayerForm& form) {
  const at::Tensor weight = decompose::weight_of_layer(model, layer);
  // First, since it says of which layer it is that it cannot have the form.
  prepare_layer(model, layer, form);
  const auto shapes = decompose::factor_shapes(form, weight.sizes());
  const double deviation = deviation_of_factors(weight, form, shapes.size());
  const auto parameters = model.named_parameters();
  for (const auto& [name, shape] : shapes) {
    parameters[layer + "." + name].normal_(0, deviation);
  }
}

}  // namespace

Forms parse_forms(const std::string& text) {
  using nlohmann::json;
  const json document = json::parse(text, nullptr, /*allow_exceptions=*/false);
  LT_REQUIRE(document.is_object(),
             "forms are a JSON object of texts by layer, such as {\"conv1\": \"tucker2 16x24\"}");
  Forms forms;
  for (const auto& [layer, form] : document.items()) {
    LT_REQUIRE(form.is_string(), "layer '", layer, "': a form is a text such as \"svd 32\"");
    forms[layer] = parse_form(form.get<std::string>());
  }
  return forms;
}

Forms read_forms(const std::filesystem::path& file) {
  std::ifstream in(file);
  std::ostringstream text;
  text << in.rdbuf();
  if (!in) throw IoError("the forms cannot be read: " + file.string());
  try {
    return parse_forms(text.str());
  } catch (const InvalidInput& error) {
    throw InvalidInput(base::concat(file.string(), ": ", error.what()));
  }
}

std::function<void(torch::nn::Module&)> forms_starter(Forms forms) {
  return [forms = std::move(forms)](torch::nn::Module& model) {
    const at::NoGradGuard no_grad;
    for (const auto& [layer, form] : forms) {
      if (form.method != Decomposition::kDense) start_layer(model, layer, form);
    }
  };
}

}  // namespace lowtide::ctdr
