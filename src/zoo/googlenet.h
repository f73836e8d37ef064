// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include "zoo/model.h"

namespace lowtide::zoo {

// GoogLeNet (Szegedy et al. 2014) with the names, shapes and first values of torchvision's, so with
// norms, and with 3 by 3 where the paper has 5 by 5. Two auxiliary heads add 0.3 of their losses
// each. Heeds channels, size, classes, dropout (of all heads) and auxiliary.
Model make_googlenet(const ModelOptions& options);

}  // namespace lowtide::zoo
