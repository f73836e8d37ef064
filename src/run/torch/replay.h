// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include "run/torch/books.h"

namespace lowtide::run {

// Carries a recorded op out again and gives `wanted`, and whatever else of its results has no
// bytes, its bytes. Requires: all inputs are resident and pinned; no lock is held.
void replay(Books& books, const RecordP& record, const ValueP& wanted);

// Fresh bytes on the books' device, through its gate. Holds no lock.
c10::Storage new_bytes(Books& books, std::int64_t bytes);

}  // namespace lowtide::run
