// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace lowtide::zoo {

// The contents of a file, unpacked if it is gzipped. Throws IoError if it cannot be read,
// InvalidInput if its gzip stream is damaged or cut short.
std::vector<std::uint8_t> read_gzip(const std::filesystem::path& file);

// The contents of a gzip stream in memory; `name` is for the message of the InvalidInput that is
// thrown if it is damaged.
std::vector<std::uint8_t> gunzip(std::span<const std::uint8_t> packed, const std::string& name);

}  // namespace lowtide::zoo
