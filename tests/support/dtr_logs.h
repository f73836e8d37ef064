// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace lowtide::support {

// The operator logs published with DTR, as (name, text) ordered by name; the name is the model's
// ("resnet32"). They are not part of the repository: they are looked for in
// ../shared/data/simrd-logs.zip beside it, and unpacked with Python. Empty when the file is not
// there: a test then skips itself and says so.
std::vector<std::pair<std::string, std::string>> dtr_logs();

// The text of one of them; empty when the file is not there.
std::string dtr_log(const std::string& name);

// What such a test says.
inline constexpr const char* kNoDtrLogs =
    "the logs published with DTR are not here (../shared/data/simrd-logs.zip)";

}  // namespace lowtide::support
