// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include "zoo/model.h"

namespace lowtide::zoo {

// U-Net (Ronneberger et al. 2015), which gives each pixel a class. Convolutions are padded, so that
// scores are as large as the picture; the paper's lose a rim. Heeds channels, size (a multiple of
// 16), classes, width (channels of the first level) and dropout (at the bottom).
Model make_unet(const ModelOptions& options);

}  // namespace lowtide::zoo
