// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

// The IDX format of MNIST and its kin: two zero bytes, one for the type, one for the number of
// dimensions, their sizes as big-endian 32-bit numbers, then the elements.

namespace lowtide::zoo {

struct IdxArray {
  std::vector<std::int64_t> sizes;
  // As many as the product of the sizes, the last dimension running fastest.
  std::vector<std::uint8_t> elements;
};

// Reads a file of bytes (type 8), gzipped or not. Throws IoError if it cannot be read, InvalidInput
// if it is not such a file, is cut short or goes on after its last element.
IdxArray read_idx(const std::filesystem::path& file);

// The same from memory; `name` is for messages.
IdxArray parse_idx(std::span<const std::uint8_t> bytes, const std::string& name);

}  // namespace lowtide::zoo
