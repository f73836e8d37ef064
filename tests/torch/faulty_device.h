// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

// Makes copies between the device and the host fail. Include it in a program whose sessions are all
// to run on such a device.

namespace lowtide::torch_test {

enum class Copies { kOut, kIn };

// Wraps every device of this process; to be called before the first session.
void make_devices_faulty();

// The copy of this number from now on fails, and if `for_good` all after it too.
void fail_copies(Copies which, std::int64_t number, bool for_good);
void stop_failing_copies();
// How many copies were made to fail since the last call of fail_copies().
std::int64_t failed_copies();

}  // namespace lowtide::torch_test
