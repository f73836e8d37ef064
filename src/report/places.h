// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "lowtide/trace.h"

namespace lowtide::report {

// Where in the model a storage belongs: its layer, else that of the op that first wrote it, else
// that op; "(before the step)" for what has neither.
std::string place_of(const Trace& trace, StorageId storage);
std::string place_of(const Op& op);

}  // namespace lowtide::report
