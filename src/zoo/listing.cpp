// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "zoo/listing.h"

#include "base/check.h"
#include "zoo/shapes_only.h"

namespace lowtide::zoo {
namespace {

std::string text_of(const InputShape& input) {
  return input.kind == InputKind::kTokens
             ? base::concat(input.context, " tokens of ", input.vocabulary)
             : base::concat(input.channels, " x ", input.size, " x ", input.size);
}

}  // namespace

std::int64_t parameter_count(const torch::nn::Module& module) {
  std::int64_t count = 0;
  for (const at::Tensor& parameter : module.parameters()) count += parameter.numel();
  return count;
}

std::vector<ModelRow> list_models() {
  const ShapesOnly shapes_only;
  std::vector<ModelRow> rows;
  for (const ModelInfo& info : catalogue()) {
    const Model model = make_model(info.name);
    rows.push_back({info, parameter_count(*model.module), model.input, text_of(model.input)});
  }
  return rows;
}

}  // namespace lowtide::zoo
