// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "zoo/idx.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstddef>
#include <cstring>
#include <memory>
#include <string>

#include <zlib.h>

#include "base/check.h"

namespace lowtide::zoo {
namespace {

// More than any data set has, and little enough that sizes cannot overflow.
constexpr std::int64_t kMostElements = std::int64_t{1} << 32;
constexpr std::size_t kBlockBytes = std::size_t{1} << 16;

class GzipFile {
 public:
  explicit GzipFile(const std::filesystem::path& path)
      : name_(path.string()), file_(gzopen(path.c_str(), "rb"), &gzclose) {
    if (file_ == nullptr) {
      throw IoError(base::concat("cannot open the data file: ", std::strerror(errno), ": ", name_));
    }
  }

  // Reads up to `count` bytes; fewer only at the end of the file.
  std::size_t read(std::uint8_t* to, std::size_t count) {
    std::size_t done = 0;
    while (done < count) {
      const auto block = static_cast<unsigned>(std::min(count - done, kBlockBytes));
      const int got = gzread(file_.get(), to + done, block);
      if (got < 0) throw_damage();
      if (got == 0) break;
      done += static_cast<std::size_t>(got);
    }
    return done;
  }

  // A gzip stream that breaks off is told of only now. Requires: nothing is left to read.
  void check_end() {
    int code = Z_OK;
    gzerror(file_.get(), &code);
    if (code != Z_OK) throw_damage();
  }

  const std::string& name() const { return name_; }

 private:
  [[noreturn]] void throw_damage() {
    int code = Z_OK;
    const char* const message = gzerror(file_.get(), &code);
    if (code == Z_ERRNO) {
      throw IoError(base::concat("cannot read the data file: ", std::strerror(errno), ": ", name_));
    }
    throw InvalidInput(
        base::concat("the data file is damaged: ", message, "; fetch it again: ", name_));
  }

  std::string name_;
  std::unique_ptr<gzFile_s, int (*)(gzFile)> file_;
};

std::int64_t big_endian(const std::uint8_t* bytes) {
  std::int64_t result = 0;
  for (int i = 0; i < 4; ++i) result = (result << 8) | bytes[i];
  return result;
}

// The number of dimensions.
std::size_t read_magic(GzipFile& file) {
  std::array<std::uint8_t, 4> magic{};
  const std::size_t got = file.read(magic.data(), magic.size());
  file.check_end();
  LT_REQUIRE(got > 0, "the data file is empty; fetch it again: ", file.name());
  LT_REQUIRE(got == magic.size() && magic[0] == 0 && magic[1] == 0,
             "this is not an IDX file (two zero bytes first); give one of the *-ubyte.gz files of "
             "MNIST or Fashion-MNIST: ",
             file.name());
  LT_REQUIRE(magic[2] == 8,
             "only IDX files of unsigned bytes (type 8) can be read; this one has type ",
             int{magic[2]}, ": ", file.name());
  LT_REQUIRE(magic[3] > 0, "the IDX file has no dimensions; fetch it again: ", file.name());
  return magic[3];
}

}  // namespace

IdxArray read_idx(const std::filesystem::path& path) {
  GzipFile file(path);
  const std::size_t dimensions = read_magic(file);
  std::vector<std::uint8_t> head(4 * dimensions);
  const std::size_t head_bytes = file.read(head.data(), head.size());
  file.check_end();
  LT_REQUIRE(head_bytes == head.size(),
             "the IDX file ends within its sizes; fetch it again: ", file.name());
  IdxArray result;
  std::int64_t count = 1;
  for (std::size_t i = 0; i < dimensions; ++i) {
    const std::int64_t size = big_endian(&head[4 * i]);
    LT_REQUIRE(size == 0 || count <= kMostElements / size,
               "the IDX file claims more elements than can be; fetch it again: ", file.name());
    count *= size;
    result.sizes.push_back(size);
  }
  // Grows with what is there, so that a false size does not ask for memory.
  std::size_t done = 0;
  const auto wanted = static_cast<std::size_t>(count);
  while (done < wanted) {
    const std::size_t block = std::min(wanted - done, kBlockBytes);
    result.elements.resize(done + block);
    const std::size_t got = file.read(&result.elements[done], block);
    done += got;
    if (got < block) break;
  }
  file.check_end();
  LT_REQUIRE(done == wanted, "the IDX file is cut short; fetch it again: ", file.name(), " has ",
             done, " of ", wanted, " elements");
  std::uint8_t more = 0;
  const std::size_t rest = file.read(&more, 1);
  file.check_end();
  LT_REQUIRE(rest == 0,
             "the IDX file goes on after its last element; fetch it again: ", file.name());
  return result;
}

}  // namespace lowtide::zoo
