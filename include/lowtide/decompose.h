// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

// Weights of convolutions and linear layers as products of smaller ones, for users of libtorch:
//
//   for (const auto& layer : lowtide::list_layers(*model)) ...
//   lowtide::decompose_layer(*model, "conv1", {lowtide::Decomposition::kTucker2, {16, 16}});
//
// The model stays the same object and is called as before: the layer's `weight` becomes a stand-in
// that convolutions and linear layers of torch know, and its parameters become the factors. This
// changes what the model computes, and nothing else in Lowtide does.

namespace at {
class Tensor;
}
namespace torch::nn {
class Module;
}

namespace lowtide {

/// How a weight is written as a product.
enum class Decomposition : std::uint8_t {
  kDense,
  /// Linear and 1x1: inputs -> rank -> outputs.
  kSvd,
  /// Convolutions: 1x1 to the first rank, the kernel to the second, 1x1 to the outputs.
  kTucker2,
  /// Convolutions: 1x1 to the rank, the kernel for each channel by itself, 1x1 to the outputs.
  kCp3,
  /// As that, with the kernel as a column and then a row.
  kCp4,
};
std::string_view to_string(Decomposition method);
/// Of such a name. Throws InvalidInput, with the known ones, for any other.
Decomposition parse_method(std::string_view name);

struct LayerForm {
  Decomposition method = Decomposition::kDense;
  /// Two for kTucker2 (inputs, outputs), one for the others, none for kDense.
  std::vector<std::int64_t> ranks{};
  /// The weight is put together from its factors in every step, and the layer's own kernel runs:
  /// fewer parameters and optimizer states, no further activations, no fewer operations.
  bool is_reconstructed = false;

  friend bool operator==(const LayerForm&, const LayerForm&) = default;
};

/// "tucker2 16x24", "svd 32 reconstructed", "dense".
std::string to_string(const LayerForm& form);
/// Of such a text. Throws InvalidInput for any other; whether a layer can have the form is not
/// asked.
LayerForm parse_form(std::string_view text);

/// A convolution or linear layer of a model.
struct LayerInfo {
  /// As in named_modules(): "layer1.0.conv1".
  std::string name;
  bool is_convolution = false;
  std::int64_t outputs = 0;
  std::int64_t inputs = 0;
  /// 1 for linear layers.
  std::int64_t kernel_height = 1;
  std::int64_t kernel_width = 1;
  /// Of the weight, in its present form.
  std::int64_t parameters = 0;
  /// Why it cannot be decomposed; empty: it can.
  std::string refusal{};
  LayerForm form{};
};

/// All nn::Conv2d and nn::Linear of the model, in its order.
std::vector<LayerInfo> list_layers(const torch::nn::Module& model);

struct DecomposedLayer {
  std::string name;
  LayerForm form;
  /// Norm of the difference over norm of the weight.
  double relative_error = 0;
  std::int64_t parameters_before = 0;
  std::int64_t parameters_after = 0;
};

/// What becomes of weights that look untrained: nothing of them stands out of random numbers, so
/// that lower ranks lose what there is.
enum class UntrainedWeights : std::uint8_t { kRefused, kTaken };

/// Decomposes the weight of one layer. Factors are parameters of the layer ("conv1.weight_in", ...)
/// and take the place of "conv1.weight"; the bias stays what it is. An optimizer that was made
/// before does not know them: make a new one, whose states then start over.
/// Throws InvalidInput if the layer is not there, has a refusal or is decomposed already, if a rank
/// is not possible, if the weight is not finite or zero, or if it looks untrained and the form
/// would lose some of it.
DecomposedLayer decompose_layer(torch::nn::Module& model, const std::string& layer,
                                const LayerForm& form,
                                UntrainedWeights untrained = UntrainedWeights::kRefused);

/// Gives a layer the form with factors of zeros, for a state that is then loaded. Throws likewise.
void prepare_layer(torch::nn::Module& model, const std::string& layer, const LayerForm& form);

/// Puts the weights of all decomposed layers together again, for export: "conv1.weight" is a
/// parameter as before. Gives the number of layers that this changed.
std::int64_t merge_layers(torch::nn::Module& model);

/// Copies of the parameters and buffers as the dense model has them: "conv1.weight" of a decomposed
/// layer is what its factors stand for. The model stays as it is.
std::map<std::string, at::Tensor> dense_state(const torch::nn::Module& model);

/// Loads parameters and buffers by name, from a dense model or a decomposed one. A dense weight for
/// a decomposed layer is decomposed in the layer's form. A layer gets the form whose factors the
/// state has; if it was dense or had others, make the optimizer anew. Throws InvalidInput, with the
/// name, for what is missing, too much or of other sizes, and for a weight that cannot be
/// decomposed; the model then stays as it was.
void load_state(torch::nn::Module& model, const std::map<std::string, at::Tensor>& state);

}  // namespace lowtide
