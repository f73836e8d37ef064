// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include "zoo/model.h"

namespace lowtide::zoo {

// MobileNet-v2 (Sandler et al. 2018) with the names, shapes and first values of torchvision's.
// Heeds channels, size, classes and dropout.
Model make_mobilenet_v2(const ModelOptions& options);

}  // namespace lowtide::zoo
