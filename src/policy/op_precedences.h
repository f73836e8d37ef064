// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "lowtide/trace.h"
#include "solve/order_variation.h"

namespace lowtide::policy {

// Which ops an Order must leave in their order, by index: who reads a value comes after its
// producer and before the op that overwrites it; versions of a storage follow each other; a view
// comes after what it is a view of.
std::vector<solve::Precedence> op_precedences(const Trace& trace);

}  // namespace lowtide::policy
