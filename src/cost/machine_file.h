// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

#include "lowtide/machine.h"

namespace lowtide::cost {

// A machine as a file describes it: JSON with "format": "lowtide-machine" and "version": 1, and the
// fields of Machine, Tier and AllocatorRules by their names. Speeds and sizes must be given; what
// has a default in the struct may be left out. parse_machine throws InvalidInput, naming the field;
// parse_machine(print_machine(m)) is m.
Machine parse_machine(std::string_view text);
std::string print_machine(const Machine& machine);

}  // namespace lowtide::cost
