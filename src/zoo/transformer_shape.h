// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "zoo/model.h"

namespace lowtide::zoo {

// What transformers of all families have in common.
struct TransformerShape {
  std::int64_t layers = 12;
  std::int64_t width = 768;
  std::int64_t heads = 12;
  double dropout = 0;
};

// The shape, with what the options have set. With a width but no number of heads, heads stay 64
// wide. Throws InvalidInput if heads do not divide the width.
TransformerShape with_options(TransformerShape shape, const ModelOptions& options);

}  // namespace lowtide::zoo
