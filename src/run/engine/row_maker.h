// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "run/engine/page_layout.h"

namespace lowtide::engine {

// A block in the row of all units; its runs may lie apart.
struct RowBlock {
  void* data = nullptr;
  const std::vector<UnitRun>* runs = nullptr;
};

// A block, and where it is to go.
struct RowMove {
  void* data = nullptr;
  UnitRun to;
};

// Which blocks have to go where so that so many units in a row become free, with as little as
// possible to be moved; empty: there is no way. `free` are the free runs in order of place, none of
// them next to another. What is neither free nor in a block is not there.
std::vector<RowMove> make_row(std::int64_t units, const std::vector<UnitRun>& free,
                              const std::vector<RowBlock>& blocks,
                              const std::function<bool(void*)>& may_move);

}  // namespace lowtide::engine
