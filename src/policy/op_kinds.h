// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include "lowtide/trace.h"

// What sort of kernel an op is, by its name as torch has it: for policies that treat sorts of ops
// differently, as their papers do. An op that is none of these is of a sort nobody asked for yet.

namespace lowtide::policy {

// Products of matrices or stacks of them: mm, bmm, addmm, matmul, linear.
bool is_matrix_product(const Op& op);
// Forward only.
bool is_convolution(const Op& op);
// Forward or backward.
bool convolves(const Op& op);
// Softmax in one kernel with both products: scaled dot product attention and its like.
bool is_fused_attention(const Op& op);
// Not the logarithm of it, which losses are made of.
bool is_softmax(const Op& op);
// Dominated by arithmetic: products, convolutions and fused attention.
bool is_compute_heavy(const Op& op);
// One pass over its inputs, with results of about their size: sums, scalings, casts, activation
// functions, dropout and normalization.
bool is_cheap_pass(const Op& op);

}  // namespace lowtide::policy
