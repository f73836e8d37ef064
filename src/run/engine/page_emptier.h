// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "run/engine/row_maker.h"

namespace lowtide::engine {

// Which blocks have to go where so that so many more pages become free as a whole, with as little
// as possible to be moved; empty: there is no way. They go to what is free in pages that are in use
// anyway. The rest is as for make_row().
std::vector<RowMove> empty_pages(std::int64_t pages, std::int64_t units_per_page,
                                 const std::vector<UnitRun>& free,
                                 const std::vector<RowBlock>& blocks,
                                 const std::function<bool(void*)>& may_move);

}  // namespace lowtide::engine
