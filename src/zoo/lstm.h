// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include "zoo/model.h"

namespace lowtide::zoo {

// The word-level language model of Zaremba et al. 2014, of their medium size: an embedding, layers
// of LSTM with dropout between them, and a linear layer. Each example starts from zeros. Heeds
// layers, width, context, vocabulary and dropout.
Model make_lstm(const ModelOptions& options);

}  // namespace lowtide::zoo
