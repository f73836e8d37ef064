// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>

namespace lowtide::zoo {

// What is at this path, `not_found` if nothing is. Throws IoError if nobody can tell: a folder on
// the way may not be entered, or the name is longer than names may be.
std::filesystem::file_type kind_at(const std::filesystem::path& path);

}  // namespace lowtide::zoo
