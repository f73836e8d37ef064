// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include "zoo/model.h"

namespace lowtide::zoo {

// LeNet-5 (LeCun et al. 1998) for grey pictures of 32 by 32, in the form in which it lives on: C3
// looks at all channels of S2, the subsampling layers learn nothing, and the output layer is
// linear. Heeds channels, size and classes.
Model make_lenet5(const ModelOptions& options);

}  // namespace lowtide::zoo
