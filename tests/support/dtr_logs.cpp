// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "support/dtr_logs.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>

#include <unistd.h>

#include "lowtide/errors.h"

namespace lowtide::support {
namespace {

namespace fs = std::filesystem;

// A folder of its own for each process, removed at the end.
class TemporaryFolder {
 public:
  TemporaryFolder()
      : path_(fs::temp_directory_path() / ("lowtide_logs_" + std::to_string(getpid()))) {
    fs::create_directories(path_);
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const fs::path& path() const { return path_; }

 private:
  fs::path path_;
};

std::string read_whole(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

// Unpacks the logs whose file names begin so.
constexpr const char* kUnpack =
    "import os, sys, zipfile\n"
    "archive = zipfile.ZipFile(sys.argv[1])\n"
    "archive.extractall(sys.argv[2], [name for name in archive.namelist()\n"
    "                                 if os.path.basename(name).startswith(sys.argv[3])])\n";

std::vector<std::pair<std::string, std::string>> logs_beginning(const std::string& prefix) {
  const fs::path archive = fs::path(LT_SOURCE_DIR) / "../shared/data/simrd-logs.zip";
  std::vector<std::pair<std::string, std::string>> logs;
  if (!fs::exists(archive)) return logs;
  const TemporaryFolder folder;
  const std::string command = std::string("python3 -I -c '") + kUnpack + "' '" + archive.string() +
                              "' '" + folder.path().string() + "' '" + prefix + "'";
  if (std::system(command.c_str()) != 0) throw IoError("failed: " + command);
  for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder.path())) {
    if (entry.path().extension() != ".log") continue;
    // "resnet32-56-9000000000.0-2020-...log"
    const std::string file = entry.path().filename().string();
    logs.emplace_back(file.substr(0, file.find('-')), read_whole(entry.path()));
  }
  std::sort(logs.begin(), logs.end());
  return logs;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> dtr_logs() { return logs_beginning(""); }

std::string dtr_log(const std::string& name) {
  const auto logs = logs_beginning(name + "-");
  return logs.empty() ? "" : logs.front().second;
}

}  // namespace lowtide::support
