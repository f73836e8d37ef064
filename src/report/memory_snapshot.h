// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "report/study.h"

namespace lowtide::report {

// A simulated step in the form of torch.cuda.memory._snapshot(), which PyTorch's memory viewer and
// torch.cuda._memory_viz read: every block that came and went on the device, and what is left at
// the end. Addresses are made up (first fit in one segment); the frames of an event name op, layer
// and storage: {"name": "convolution -> a12", "filename": "layer1.0.conv1", "line": 37}.
nlohmann::json memory_snapshot(const SimulatedStep& step);
// The same, pickled.
std::string memory_snapshot_file(const SimulatedStep& step);

}  // namespace lowtide::report
