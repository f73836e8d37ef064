// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>

#include "lowtide/machine.h"
#include "lowtide/trace.h"
#include "session/devices.h"
#include "session/guidance.h"

// What a step is planned in: the machine as it was measured, and the bytes that are taken already.

namespace lowtide::session {

Machine machine_around(const Trace& trace, const engine::Device& device,
                       const GuidanceOptions& options);

// What is there after the step and not in its trace stays there: workspaces of libraries, tensors
// that the step does not use.
std::int64_t outside_bytes(ManagedDevice& managed, const Trace& trace);

}  // namespace lowtide::session
