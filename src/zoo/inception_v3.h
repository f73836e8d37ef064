// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include "zoo/model.h"

namespace lowtide::zoo {

// Inception-v3 (Szegedy et al. 2015b) with the names, shapes and first values of torchvision's. An
// auxiliary head adds 0.4 of its loss; it needs pictures of at least 299 by 299, the net without it
// 75 by 75. Heeds channels, size, classes, dropout and auxiliary.
Model make_inception_v3(const ModelOptions& options);

}  // namespace lowtide::zoo
