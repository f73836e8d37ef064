// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "cli/output_file.h"

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/check.h"

namespace lowtide::cli {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void fail(const std::string& path, int error) {
  throw IoError(base::concat("cannot write ", path, ": ", std::strerror(error),
                             "; choose a file in a folder that exists and can be written to"));
}

[[noreturn]] void fail_for_folder(const std::string& path) {
  throw IoError(base::concat("cannot write ", path, ": it is a folder; name a file in it"));
}

// An open file that is closed, and a temporary name that is removed unless it was renamed.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& target) : target_(target) {
    // The process id keeps two runs apart; the number, leftovers of a run that was killed.
    for (int attempt = 0; attempt < 100 && file_ < 0; ++attempt) {
      name_ = base::concat(target, ".tmp", ::getpid(), "-", attempt);
      file_ = ::open(name_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
      if (file_ < 0 && errno != EEXIST) break;
    }
    if (file_ < 0) fail(target_, errno);
  }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  ~TemporaryFile() {
    if (file_ >= 0) ::close(file_);
    if (!renamed_) ::unlink(name_.c_str());
  }

  int file() const { return file_; }

  void rename_to_target() {
    if (::fsync(file_) != 0) fail(target_, errno);
    const int closed = ::close(file_);
    file_ = -1;
    if (closed != 0 || ::rename(name_.c_str(), target_.c_str()) != 0) fail(target_, errno);
    renamed_ = true;
  }

 private:
  std::string target_;
  std::string name_;
  int file_ = -1;
  bool renamed_ = false;
};

void write_in_place(const std::string& path, std::string_view content) {
  const int file = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
  if (file < 0) fail(path, errno);
  try {
    write_all(file, content, path);
  } catch (...) {
    ::close(file);
    throw;
  }
  if (::close(file) != 0) fail(path, errno);
}

// A rename is on the disk once its folder is; not every file system can do that, so no error.
void sync_folder_of(const std::string& path) {
  const std::string folder = fs::path(path).parent_path();
  const int file = ::open(folder.empty() ? "." : folder.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  ::fsync(file);
  ::close(file);
}

// Where the bytes really go if `path` is a symbolic link.
std::string resolve(const std::string& path) {
  std::error_code error;
  const fs::path target = fs::canonical(path, error);
  return error ? path : target.string();
}

}  // namespace

bool write_all(int file, std::string_view content, const std::string& name) {
  while (!content.empty()) {
    const ssize_t written = ::write(file, content.data(), content.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0 && errno == EPIPE) return false;
    if (written < 0) {
      throw IoError(base::concat("cannot write ", name, ": ", std::strerror(errno),
                                 "; make room there or write elsewhere"));
    }
    content.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

void require_writable(const std::string& path) {
  const std::string target = resolve(path);
  struct stat old {};
  if (::stat(target.c_str(), &old) == 0) {
    if (S_ISDIR(old.st_mode)) fail_for_folder(path);
    if (::access(target.c_str(), W_OK) != 0) fail(path, errno);
    if (!S_ISREG(old.st_mode)) return;
  }
  const std::string folder = fs::path(target).parent_path();
  if (::access(folder.empty() ? "." : folder.c_str(), W_OK | X_OK) != 0) fail(path, errno);
}

void write_output_file(const std::string& path, std::string_view content) {
  const std::string target = resolve(path);
  struct stat old {};
  const bool exists = ::stat(target.c_str(), &old) == 0;
  if (exists && S_ISDIR(old.st_mode)) fail_for_folder(path);
  if (exists && !S_ISREG(old.st_mode)) return write_in_place(target, content);
  if (exists && ::access(target.c_str(), W_OK) != 0) fail(path, errno);
  TemporaryFile temporary(target);
  write_all(temporary.file(), content, path);
  if (exists && ::fchmod(temporary.file(), old.st_mode & 07777) != 0) fail(path, errno);
  temporary.rename_to_target();
  sync_folder_of(target);
}

}  // namespace lowtide::cli
