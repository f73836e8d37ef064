// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include "zoo/transformer_shape.h"

namespace lowtide::zoo {

// BERT (Devlin et al. 2018) with the head that tells masked words, whose last weight is the
// embedding's: 109,514,298 parameters of the base size. All tokens are of the first sentence.
// Targets of -100 are words that were not masked. Heeds layers, width, heads, context, vocabulary
// and dropout, and has the rest from `shape`.
Model make_bert(const TransformerShape& shape, const ModelOptions& options);

}  // namespace lowtide::zoo
