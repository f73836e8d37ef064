// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>

namespace lowtide::train {

// The largest number up to `most` that fits, if whatever is smaller than one that fits does too; 0
// if none does. Doubles from `first` on, then halves what is left, so that both the result and the
// number after it were asked for. Requires: 1 <= first, 1 <= most.
std::int64_t largest_that_fits(std::int64_t first, std::int64_t most,
                               const std::function<bool(std::int64_t)>& fits);

}  // namespace lowtide::train
