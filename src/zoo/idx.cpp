// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "zoo/idx.h"

#include <cstddef>

#include "base/check.h"
#include "zoo/gzip.h"

namespace lowtide::zoo {
namespace {

// More than any data set has, and little enough that sizes cannot overflow.
constexpr std::int64_t kMostElements = std::int64_t{1} << 32;
constexpr std::size_t kMagicBytes = 4;

std::int64_t big_endian(const std::uint8_t* bytes) {
  std::int64_t result = 0;
  for (int i = 0; i < 4; ++i) result = (result << 8) | bytes[i];
  return result;
}

// The number of dimensions.
std::size_t check_magic(std::span<const std::uint8_t> bytes, const std::string& name) {
  LT_REQUIRE(!bytes.empty(), "the data file is empty; fetch it again: ", name);
  LT_REQUIRE(bytes.size() >= kMagicBytes && bytes[0] == 0 && bytes[1] == 0,
             "this is not an IDX file (two zero bytes first); give one of the *-ubyte.gz files of "
             "MNIST or Fashion-MNIST: ",
             name);
  LT_REQUIRE(bytes[2] == 8,
             "only IDX files of unsigned bytes (type 8) can be read; this one has type ",
             int{bytes[2]}, ": ", name);
  LT_REQUIRE(bytes[3] > 0, "the IDX file has no dimensions; fetch it again: ", name);
  return bytes[3];
}

}  // namespace

IdxArray parse_idx(std::span<const std::uint8_t> bytes, const std::string& name) {
  const std::size_t dimensions = check_magic(bytes, name);
  const std::size_t head_bytes = kMagicBytes + 4 * dimensions;
  LT_REQUIRE(bytes.size() >= head_bytes,
             "the IDX file ends within its sizes; fetch it again: ", name);
  IdxArray result;
  std::int64_t count = 1;
  for (std::size_t i = 0; i < dimensions; ++i) {
    const std::int64_t size = big_endian(&bytes[kMagicBytes + 4 * i]);
    LT_REQUIRE(size == 0 || count <= kMostElements / size,
               "the IDX file claims more elements than can be; fetch it again: ", name);
    count *= size;
    result.sizes.push_back(size);
  }
  const std::span<const std::uint8_t> elements = bytes.subspan(head_bytes);
  const auto wanted = static_cast<std::size_t>(count);
  LT_REQUIRE(elements.size() >= wanted, "the IDX file is cut short; fetch it again: ", name,
             " has ", elements.size(), " of ", wanted, " elements");
  LT_REQUIRE(elements.size() == wanted,
             "the IDX file goes on after its last element; fetch it again: ", name);
  result.elements.assign(elements.begin(), elements.end());
  return result;
}

IdxArray read_idx(const std::filesystem::path& file) {
  return parse_idx(read_gzip(file), file.string());
}

}  // namespace lowtide::zoo
