// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "run/torch/autograd_phase.h"

#include <torch/csrc/autograd/function.h>

namespace lowtide::run {

bool is_in_backward() { return torch::autograd::get_current_node() != nullptr; }

}  // namespace lowtide::run
