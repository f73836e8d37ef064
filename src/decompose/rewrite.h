// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

#include "lowtide/decompose.h"

// The functions of lowtide/decompose.h are in rewrite.cpp and state.cpp; this is what else of a
// model's layers the other folders ask for.

namespace lowtide::decompose {

// The layer's member, be it a stand-in: to look at, or to write to in place.
// Throws InvalidInput, with the nearest name, if there is no such layer.
at::Tensor weight_of_layer(torch::nn::Module& model, const std::string& layer);

// As merge_layers() does, for this layer alone. Throws likewise.
void merge_layer(torch::nn::Module& model, const std::string& layer);

// What the layer gives by itself. Throws likewise.
at::Tensor run_layer(torch::nn::Module& model, const std::string& layer, const at::Tensor& input);

struct LayerInput {
  std::vector<std::int64_t> sizes;
  // Whether backward goes on before the layer: not so for the first one.
  bool needs_gradient = false;
};

// What each layer that can be decomposed is given while `run` runs, by name: of its first use, and
// nothing for a layer that is not used. Requires: no layer is decomposed.
std::map<std::string, LayerInput> observe_inputs(torch::nn::Module& model,
                                                 const std::function<void()>& run);

}  // namespace lowtide::decompose
