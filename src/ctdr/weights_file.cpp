// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "ctdr/weights_file.h"

#include <algorithm>
#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include <ATen/ATen.h>
#include <torch/nn/module.h>

#include "base/check.h"
#include "decompose/factors.h"
#include "train/tensor_file.h"

namespace lowtide::ctdr {
namespace {

using Tensors = std::map<std::string, at::Tensor>;

constexpr const char* kFormat = "lowtide-weights 1";
constexpr std::string_view kForm = "form/";

// "conv1.weight_in" of "parameter/conv1.weight_in"; nothing of what is not the model's.
std::optional<std::string> name_in_model(const std::string& name) {
  const std::size_t slash = name.find('/');
  const std::string kind = name.substr(0, slash);
  if (kind != "parameter" && kind != "buffer") return std::nullopt;
  return name.substr(slash + 1);
}

// The factors of a layer become its weight.
void merge_layer(Tensors& tensors, const std::string& layer, const LayerForm& form,
                 at::IntArrayRef weight_sizes) {
  decompose::Factored factored = {.form = form, .factors = {}};
  for (const auto& [factor, shape] : decompose::factor_shapes(form, weight_sizes)) {
    const auto found = tensors.find(layer + "." + factor);
    LT_CHECK(found != tensors.end(), "no factor ", layer, ".", factor);
    factored.factors.push_back({factor, found->second});
    tensors.erase(found);
  }
  tensors[layer + ".weight"] = decompose::reconstruct(factored, weight_sizes).contiguous();
}

Forms forms_in(const train::Texts& texts) {
  Forms forms;
  for (const auto& [name, text] : texts) {
    if (name.starts_with(kForm)) forms[name.substr(kForm.size())] = parse_form(text);
  }
  return forms;
}

void load(torch::nn::Module& model, const train::TensorFile& file) {
  // Whether weights are reconstructed the factors do not tell.
  for (const auto& [layer, form] : forms_in(file.texts)) prepare_layer(model, layer, form);
  load_state(model, file.tensors);
}

}  // namespace

Tensors host_copies(const train::State& state, Session* session) {
  Tensors copies;
  for (const train::NamedTensor& item : state) {
    const std::optional<std::string> name = name_in_model(item.name);
    if (!name) continue;
    train::with_bytes(item.tensor, session, [&](std::span<const std::byte> bytes) {
      at::Tensor copy = at::empty(item.tensor.sizes(), item.tensor.options().device(at::kCPU));
      std::copy(bytes.begin(), bytes.end(), static_cast<std::byte*>(copy.mutable_data_ptr()));
      copies[*name] = copy;
    });
  }
  return copies;
}

void write_weights(const std::filesystem::path& file, const train::State& state, const Forms& forms,
                   const DenseModel& dense, bool is_merged, Session* session) {
  const at::NoGradGuard no_grad;
  Tensors tensors = host_copies(state, session);
  train::Texts texts = {{"format", kFormat}, {"model", dense.options().model}};
  for (const auto& [layer, form] : forms) {
    if (is_merged) {
      merge_layer(tensors, layer, form, dense.weight(layer).sizes());
    } else {
      texts[std::string(kForm) + layer] = to_string(form);
    }
  }
  train::State named;
  for (const auto& [name, tensor] : tensors) named.push_back({name, tensor});
  train::write_tensor_file(file, texts, named, nullptr);
}

std::function<void(torch::nn::Module&)> weights_loader(const std::filesystem::path& file,
                                                       const std::string& model) {
  const auto read = std::make_shared<const train::TensorFile>(train::read_tensor_file(file));
  const auto text = [&](const char* name) {
    const auto found = read->texts.find(name);
    return found == read->texts.end() ? std::string() : found->second;
  };
  LT_REQUIRE(text("format") == kFormat, file.string(),
             " has no weights that 'lowtide decompose -o' wrote");
  LT_REQUIRE(text("model") == model, file.string(), " has the weights of ", text("model"),
             ", not of ", model);
  return [read](torch::nn::Module& fresh) { load(fresh, *read); };
}

}  // namespace lowtide::ctdr
