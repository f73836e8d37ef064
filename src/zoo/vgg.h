// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include "zoo/model.h"

namespace lowtide::zoo {

enum class VggNorm { kNone, kBatch };

// The nets of Simonyan and Zisserman 2014, with the names, shapes and first values of
// torchvision's. depth: 11, 13, 16 or 19. Heeds channels, size, classes and dropout.
Model make_vgg(int depth, VggNorm norm, const ModelOptions& options);

}  // namespace lowtide::zoo
