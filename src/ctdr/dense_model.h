// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <map>
#include <memory>
#include <string>

#include <ATen/core/Tensor.h>

#include "decompose/factors.h"
#include "decompose/ranks.h"
#include "lowtide/decompose.h"
#include "train/training.h"

namespace lowtide::ctdr {

// The layers that are not dense, by name.
using Forms = std::map<std::string, LayerForm>;

// A model that was trained on with decomposed layers.
struct TunedModel {
  Forms forms;
  // Parameters, with the factors of those, and buffers, by their names.
  std::map<std::string, at::Tensor> values;
};

// A trained model, from which models with decomposed layers are made: its weights, and what was
// found of their decompositions so far.
class DenseModel {
 public:
  // `options`: of the training that it comes from, gone through open_data_for. `state`: as
  // Training::state() gives it; parameters and buffers are copied. `cp_sweeps`: as cp() takes them.
  DenseModel(const train::TrainingOptions& options, const train::State& state,
             int cp_sweeps = decompose::kMostSweeps);

  const train::TrainingOptions& options() const { return options_; }
  // Parameters and buffers, as Training::state() gives them.
  train::State state() const;
  // The weight of a layer. Throws InvalidInput if there is none.
  const at::Tensor& weight(const std::string& layer) const;
  // Throws InvalidInput for a form that the layer cannot have, beginning with its name.
  const decompose::Factorisation& factors(const std::string& layer, const LayerForm& form);
  const decompose::Spectrum& spectrum(const std::string& layer);

  // The same training from these weights, with these layers decomposed. This must outlive what is
  // made of the options.
  train::TrainingOptions with(const Forms& forms);
  // The same training from where it was left, in forms of which some have higher ranks than there,
  // and with layers that are dense again: at first it computes the same, and what was cut off is
  // what is free to be learned. Only CP whose new terms would cancel each other begins anew.
  // Requires: no layer that was dense there is decomposed, and no method changes.
  train::TrainingOptions with(const Forms& forms, const TunedModel& tuned);

 private:
  decompose::Factored grown(const std::string& layer, const decompose::Factored& narrow,
                            const LayerForm& form);
  void load(torch::nn::Module& model) const;
  void give_forms(torch::nn::Module& model, const Forms& forms);

  train::TrainingOptions options_;
  int cp_sweeps_;
  std::map<std::string, at::Tensor> parameters_, buffers_;
  std::map<std::pair<std::string, std::string>, decompose::Factorisation> factors_;
  std::map<std::string, decompose::SharedVectors> vectors_;
  std::map<std::string, decompose::Spectrum> spectra_;
};

}  // namespace lowtide::ctdr
