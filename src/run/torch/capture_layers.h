// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

#include "lowtide/trace.h"
#include "run/torch/capture.h"

namespace lowtide::run {

// To which part of the model each op of a captured step belongs, by op; empty: nobody knows. Torch
// does not tell which module an op runs for, so it is found out, by the first of these that says
// something:
//   1. Storages among its arguments that belong to a layer: a convolution is the layer's whose
//      weight it takes. Several layers: what their names have in common, up to a dot. What the
//      forward pass makes of such storages alone belongs to the layer too: copies of weights.
//   2. In the backward pass, the op whose node of autograd's graph it is carried out for.
//   3. The newest of its arguments: an op without parameters belongs to the layer that made it.
//   4. The op before it in the same phase.
// Ops of the optimizer only go by the first.
//
// Limitations: a loss, and what joins two branches, count as part of the last layer before them; a
// weight that two layers share is the first one's.
std::vector<std::string> layers_of_ops(const std::vector<Capture::OpEvent>& ops,
                                       const std::vector<Phase>& phases,
                                       const std::vector<std::string>& storage_layers);

}  // namespace lowtide::run
