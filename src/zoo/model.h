// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <torch/nn/module.h>

// A model of the zoo with what is needed to train it. `make_model` of zoo/catalogue.h makes one.

namespace lowtide::zoo {

enum class InputKind { kPictures, kTokens };

// What a model is fed with, one example's worth.
struct InputShape {
  InputKind kind = InputKind::kPictures;
  // Of pictures; `size` is their height and their width.
  std::int64_t channels = 3;
  std::int64_t size = 224;
  std::int64_t classes = 1000;
  // Whether each pixel has a class, and not each picture.
  bool is_dense = false;
  // Of tokens.
  std::int64_t context = 0;
  std::int64_t vocabulary = 0;
  // Whether the model tells tokens that are hidden, and not each from those before it.
  bool is_masked = false;
};

// What the user may change; what is not set keeps the model's own.
struct ModelOptions {
  std::optional<std::int64_t> channels = {};
  std::optional<std::int64_t> size = {};
  std::optional<std::int64_t> classes = {};
  std::optional<std::int64_t> layers = {};
  std::optional<std::int64_t> width = {};
  std::optional<std::int64_t> heads = {};
  std::optional<std::int64_t> context = {};
  std::optional<std::int64_t> vocabulary = {};
  std::optional<double> dropout = {};
  // Whether there are auxiliary heads, which have their part in the loss.
  std::optional<bool> auxiliary = {};
};

struct Model {
  std::string name;
  std::shared_ptr<torch::nn::Module> module;
  InputShape input;
  // Scores: batch, classes; if dense: batch, classes, height, width; of tokens: batch, context,
  // vocabulary. Of the head proper only, where there are auxiliary ones.
  std::function<at::Tensor(const at::Tensor& inputs)> forward;
  // The mean loss of a batch, auxiliary heads included while training. Targets, long: batch; if
  // dense: batch, height, width; of tokens: batch, context. Targets of -100 do not count.
  std::function<at::Tensor(const at::Tensor& inputs, const at::Tensor& targets)> loss;
};

}  // namespace lowtide::zoo
