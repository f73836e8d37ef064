// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "zoo/transformer_shape.h"

#include "base/check.h"

namespace lowtide::zoo {

TransformerShape with_options(TransformerShape shape, const ModelOptions& options) {
  constexpr std::int64_t kHeadWidth = 64;
  if (options.width && !options.heads) {
    LT_REQUIRE(*options.width % kHeadWidth == 0, "a width that is no multiple of ", kHeadWidth,
               " needs a number of heads that divides it; set heads: width ", *options.width);
    shape.heads = *options.width / kHeadWidth;
  }
  shape.layers = options.layers.value_or(shape.layers);
  shape.width = options.width.value_or(shape.width);
  shape.heads = options.heads.value_or(shape.heads);
  shape.dropout = options.dropout.value_or(shape.dropout);
  LT_REQUIRE(shape.width % shape.heads == 0, "heads must divide the width: heads ", shape.heads,
             ", width ", shape.width);
  return shape;
}

}  // namespace lowtide::zoo
