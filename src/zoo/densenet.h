// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include "zoo/model.h"

namespace lowtide::zoo {

// The densely connected nets of Huang et al. 2016, with the names, shapes and first values of
// torchvision's. depth: 121, 169 or 201. Heeds channels, size, classes and dropout.
Model make_densenet(int depth, const ModelOptions& options);

}  // namespace lowtide::zoo
