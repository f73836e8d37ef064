// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "lowtide/trace.h"

namespace lowtide::trace {

// For each op the storages that the program releases right after it.
std::vector<std::vector<StorageId>> frees_by_op(const Trace& trace);

// Only those releases that a file must state, because they come later than the storage's last use.
std::vector<std::vector<StorageId>> late_frees(const Trace& trace);

}  // namespace lowtide::trace
