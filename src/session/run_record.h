// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include <nlohmann/json.hpp>

#include "lowtide/session.h"
#include "lowtide/trace.h"

namespace lowtide::session {

// By the names of SessionStats.
nlohmann::json statistics_json(const SessionStats& stats);

// A device's name as that of a machine, which must be one word: "NVIDIA_H200_(cuda_0)".
std::string machine_name(std::string device_name);

}  // namespace lowtide::session
