// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "cli/exit_code.h"
#include "train/verify.h"

namespace lowtide::cli {

// What `verify` found, for people: first whether the two trainings are identical, as far as they
// were compared, then memory and time, as far as they were measured.
std::string verdict_text(const train::Verdict& verdict);

// kFailed for a difference: it is a failure of Lowtide.
ExitCode exit_code_of(const train::Verdict& verdict);

}  // namespace lowtide::cli
