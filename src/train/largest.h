// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>

namespace lowtide::train {

// The largest number up to `most` that fits, if whatever is smaller than one that fits does too; 0
// if none does. Doubles from `first` on, then halves what is left, so that both the result and the
// number after it were asked for. With a slack, one that does not fit may be so much larger than
// the result, as a share of it. Requires: 1 <= first, 1 <= most, 0 <= slack.
std::int64_t largest_that_fits(std::int64_t first, std::int64_t most,
                               const std::function<bool(std::int64_t)>& fits, double slack = 0);

}  // namespace lowtide::train
