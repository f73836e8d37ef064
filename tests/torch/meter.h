// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>

// Counts what torch's CPU allocator hands out, with books of its own: a session's count is checked
// against it. It lies beneath the session if it was installed before the first one.

namespace lowtide::torch_test {

// Puts the meter under torch's CPU allocator, once; what was allocated before is not counted.
void install_meter();

// Called after each allocation, on its thread; null: nobody is. Not while others allocate.
void on_metered_allocation(std::function<void()> listen);

// Bytes that were asked for and not yet given back.
std::int64_t metered_bytes();
// The most of them since the last reset.
std::int64_t metered_peak_bytes();
void reset_metered_peak();

}  // namespace lowtide::torch_test
