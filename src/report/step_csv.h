// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include "report/study.h"

namespace lowtide::report {

// The study's steps as lines of CSV, one an op, the plain step first: when it ran and what lay on
// the device at its fullest moment, by kind. Plain bytes and seconds.
std::string step_csv(const Study& study);

}  // namespace lowtide::report
