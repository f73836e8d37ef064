// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <string>

#include <nlohmann/json.hpp>

namespace lowtide::report {

// A document as Python's pickle (protocol 2), with those few opcodes that the memory viewer of
// PyTorch, which unpickles in the browser, knows too: dictionaries, lists, strings, whole numbers,
// truth values and None. Requires: there are no other numbers in it, and strings are UTF-8.
std::string pickled(const nlohmann::json& document);

}  // namespace lowtide::report
