// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "zoo/gzip.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>

#include <zlib.h>

#include "base/check.h"

namespace lowtide::zoo {
namespace {

constexpr std::size_t kBlockBytes = std::size_t{1} << 16;
// zlib's word for "a gzip stream, nothing else".
constexpr int kGzipWindow = 15 + 16;

[[noreturn]] void throw_unreadable(const char* what, const std::string& name) {
  throw IoError(
      base::concat("cannot ", what, " the data file: ", std::strerror(errno), ": ", name));
}

[[noreturn]] void throw_damaged(const char* how, const std::string& name) {
  throw InvalidInput(base::concat("the data file is damaged: ", how, "; fetch it again: ", name));
}

// Also tells of a stream that breaks off, which zlib does only at its end.
void check_state(gzFile file, const std::string& name) {
  int code = Z_OK;
  const char* const message = gzerror(file, &code);
  if (code == Z_ERRNO) throw_unreadable("read", name);
  if (code != Z_OK) throw_damaged(message, name);
}

}  // namespace

std::vector<std::uint8_t> read_gzip(const std::filesystem::path& path) {
  const std::string name = path.string();
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> file(gzopen(path.c_str(), "rb"), &gzclose);
  if (file == nullptr) throw_unreadable("open", name);
  std::vector<std::uint8_t> contents;
  int got = 0;
  do {
    const std::size_t done = contents.size();
    contents.resize(done + kBlockBytes);
    got = gzread(file.get(), &contents[done], kBlockBytes);
    contents.resize(done + static_cast<std::size_t>(std::max(got, 0)));
  } while (got > 0);
  check_state(file.get(), name);
  return contents;
}

std::vector<std::uint8_t> gunzip(std::span<const std::uint8_t> packed, const std::string& name) {
  z_stream stream{};
  LT_CHECK(inflateInit2(&stream, kGzipWindow) == Z_OK, "zlib does not start");
  const std::unique_ptr<z_stream, int (*)(z_stream*)> end(&stream, &inflateEnd);
  // zlib only reads it, but its interface does not say so.
  stream.next_in = const_cast<Bytef*>(packed.data());
  stream.avail_in = static_cast<uInt>(packed.size());
  std::vector<std::uint8_t> contents;
  int code = Z_OK;
  while (code == Z_OK) {
    const std::size_t done = contents.size();
    contents.resize(done + kBlockBytes);
    stream.next_out = &contents[done];
    stream.avail_out = kBlockBytes;
    code = inflate(&stream, Z_NO_FLUSH);
    contents.resize(done + kBlockBytes - stream.avail_out);
  }
  if (code != Z_STREAM_END) {
    throw_damaged(stream.msg == nullptr ? "it ends too early" : stream.msg, name);
  }
  return contents;
}

}  // namespace lowtide::zoo
