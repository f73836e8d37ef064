// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "run/tier/spill_folder.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/check.h"

namespace lowtide::tier {
namespace {

constexpr mode_t kOnlyUs = 0600;

void require_folder(const std::string& folder) {
  struct stat info {};
  const int failure = stat(folder.c_str(), &info) == 0 ? 0 : errno;
  LT_REQUIRE(failure != ENOENT,
             "the spill folder does not exist: make it, or name another; folder \"", folder, "\"");
  LT_REQUIRE(failure == 0, "the spill folder cannot be looked at: ", std::strerror(failure),
             "; folder \"", folder, "\"");
  LT_REQUIRE(S_ISDIR(info.st_mode), "the spill folder is no folder: name one; it is \"", folder,
             "\"");
}

}  // namespace

int open_and_unlink(const std::string& folder) {
  std::string path = folder + "/lowtide-XXXXXX";
  // Makes it with mode 0600.
  const int file = mkostemp(path.data(), O_CLOEXEC);
  if (file >= 0) unlink(path.c_str());
  return file;
}

OpenFile::~OpenFile() {
  if (descriptor_ >= 0) close(descriptor_);
}

bool OpenFile::is_direct() const { return (fcntl(descriptor_, F_GETFL) & O_DIRECT) != 0; }

bool OpenFile::stop_direct() {
  if (!is_direct()) return false;
  return fcntl(descriptor_, F_SETFL, fcntl(descriptor_, F_GETFL) & ~O_DIRECT) == 0;
}

OpenFile open_nameless_file(const std::string& folder) {
  require_folder(folder);
  int file = open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC | O_EXCL, kOnlyUs);
  if (file < 0 && (errno == EOPNOTSUPP || errno == EISDIR || errno == EINVAL)) {
    file = open_and_unlink(folder);
  }
  const int failure = file < 0 ? errno : 0;
  LT_REQUIRE(failure != EACCES && failure != EPERM && failure != EROFS,
             "no file can be made in the spill folder: allow us to write there, or name another; ",
             std::strerror(failure), ", folder \"", folder, "\"");
  LT_REQUIRE(failure == 0, "no file can be made in the spill folder: ", std::strerror(failure),
             ", folder \"", folder, "\"");
  // Memory file systems may refuse it; then the kernel's cache is in between.
  static_cast<void>(fcntl(file, F_SETFL, fcntl(file, F_GETFL) | O_DIRECT));
  return OpenFile(file);
}

std::string warning_about(const std::string& folder) {
  struct stat info {};
  if (stat(folder.c_str(), &info) != 0) return {};
  const bool is_open_to_all = (info.st_mode & S_IWOTH) != 0 && (info.st_mode & S_ISVTX) == 0;
  if (!is_open_to_all) return {};
  return base::concat("the spill folder can be written by everyone (chmod o-w, or +t, helps): ",
                      folder);
}

std::int64_t free_bytes_in(const std::string& folder) {
  struct statvfs info {};
  if (statvfs(folder.c_str(), &info) != 0) return 0;
  return static_cast<std::int64_t>(info.f_bavail) * static_cast<std::int64_t>(info.f_frsize);
}

}  // namespace lowtide::tier
