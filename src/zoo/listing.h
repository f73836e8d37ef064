// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

#include "zoo/catalogue.h"

namespace lowtide::zoo {

// What `lowtide models` shows of a model as it is without options.
struct ModelRow {
  ModelInfo info;
  std::int64_t parameters = 0;
  InputShape input;
  // "3 x 224 x 224" of pictures, "1024 tokens of 50257".
  std::string input_text;
};

// Numbers that are learned; one that is used in two places counts once.
std::int64_t parameter_count(const torch::nn::Module& module);

// All models, in the catalogue's order. No memory is taken for their parameters.
std::vector<ModelRow> list_models();

}  // namespace lowtide::zoo
