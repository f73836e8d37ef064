// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "zoo/data_set.h"

namespace lowtide::zoo {

// Random pictures or tokens in the shape that the model takes, for benchmarks: nothing is to be
// learned from them, and there are none to evaluate. Each example follows from its number.
std::unique_ptr<DataSet> make_synthetic(InputKind kind);

}  // namespace lowtide::zoo
