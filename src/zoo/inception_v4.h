// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include "zoo/model.h"

namespace lowtide::zoo {

// Inception-v4 (Szegedy et al. 2016), the one without residual connections: 42,679,816 parameters.
// Heeds channels, size, classes and dropout.
Model make_inception_v4(const ModelOptions& options);

}  // namespace lowtide::zoo
