// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "zoo/model.h"

// The one table of the zoo's models.

namespace lowtide::zoo {

struct ModelInfo {
  std::string name;
  std::string family;
  // Who published it and when.
  std::string paper;
  // The members of ModelOptions that it heeds.
  std::vector<std::string> options;
  std::string summary;
};

// Every model, in the order in which listings show them.
const std::vector<ModelInfo>& catalogue();

// The model, in training mode, with its first values. Throws InvalidInput for an unknown name
// (naming the nearest, if one is near), and for options that the model has no use for or that are
// impossible, saying what to do.
Model make_model(const std::string& name, const ModelOptions& options = {});

}  // namespace lowtide::zoo
