// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <string>

namespace lowtide::session {

// Writes a line on stderr, in one piece, after the name of the program; where several processes
// train together (torchrun sets RANK), after that of the rank too: "lowtide[3]: ...".
void warn(const std::string& text);

}  // namespace lowtide::session
