// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include "zoo/transformer_shape.h"

namespace lowtide::zoo {

// The vision transformers of Dosovitskiy et al. 2020 with patches of 16 by 16, with the names,
// shapes and first values of torchvision's. Heeds channels, size (a multiple of 16), classes,
// layers, width, heads and dropout, and has the rest from `shape`.
Model make_vit(const TransformerShape& shape, const ModelOptions& options);

}  // namespace lowtide::zoo
