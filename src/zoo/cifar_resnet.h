// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include "zoo/model.h"

namespace lowtide::zoo {

// The residual nets of He et al. 2015, section 4.2, for pictures of 32 by 32: three stages of
// equally many blocks. Where the size halves, shortcuts skip pixels and fill up with zeros, so they
// learn nothing (option A there). 6n+2 layers; the paper has 20 to 1202. Heeds channels, size,
// classes, layers and width (channels of the first stage).
Model make_cifar_resnet(std::int64_t layers, const ModelOptions& options);

}  // namespace lowtide::zoo
