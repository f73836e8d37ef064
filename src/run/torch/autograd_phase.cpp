// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "run/torch/autograd_phase.h"

#include <ATen/SequenceNumber.h>
#include <torch/csrc/autograd/function.h>

namespace lowtide::run {

bool is_in_backward() { return torch::autograd::get_current_node() != nullptr; }

std::uint64_t autograd_node() {
  const auto node = torch::autograd::get_current_node();
  return node != nullptr ? node->sequence_nr() : at::sequence_number::peek() - 1;
}

}  // namespace lowtide::run
