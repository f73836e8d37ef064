// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <string>

#include <ATen/core/Tensor.h>

#include "ctdr/dense_model.h"
#include "lowtide/session.h"
#include "train/named_tensor.h"

namespace lowtide::ctdr {

// Copies of a model's parameters and buffers in host memory, by their names in it. `state`: as
// Training::state() gives it, of a training in the session.
std::map<std::string, at::Tensor> host_copies(const train::State& state, Session* session);

// Writes a model's parameters and buffers under their names in it, as safetensors; each decomposed
// layer's form is a text "form/<layer>". Merged: dense weights as the plain model has them, and no
// forms. `state`: as Training::state() gives it. Throws IoError.
void write_weights(const std::filesystem::path& file, const train::State& state, const Forms& forms,
                   const DenseModel& dense, bool is_merged, Session* session);

// Gives a new model the forms in such a file and loads it, for TrainingOptions::prepare. `model`:
// its name in the zoo. Reads the file now: throws IoError, and InvalidInput if it is not such a
// file, or of another model; what is returned throws InvalidInput for a model of other sizes.
std::function<void(torch::nn::Module&)> weights_loader(const std::filesystem::path& file,
                                                       const std::string& model);

}  // namespace lowtide::ctdr
