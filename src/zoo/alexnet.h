// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include "zoo/model.h"

namespace lowtide::zoo {

// AlexNet in the form of Krizhevsky 2014 (one GPU), with the names, shapes and first values of
// torchvision's. Heeds channels, size, classes and dropout.
Model make_alexnet(const ModelOptions& options);

}  // namespace lowtide::zoo
