// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "cli/output_file.h"

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "lowtide/errors.h"

namespace lowtide::cli {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;

class OutputFile : public testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "lowtide_output_XXXXXX").string();
    folder_ = mkdtemp(name.data());
  }
  void TearDown() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  static std::string contents(const std::string& file) {
    std::ifstream in(file);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  std::vector<std::string> names() const {
    std::vector<std::string> result;
    for (const auto& entry : fs::directory_iterator(folder_)) {
      result.push_back(entry.path().filename().string());
    }
    return result;
  }

  fs::path folder_;
};

TEST_F(OutputFile, ReplacesAFileAndLeavesNothingElseBehind) {
  write_output_file(path("a"), "old");
  write_output_file(path("a"), "new");
  EXPECT_EQ(contents(path("a")), "new");
  EXPECT_THAT(names(), ElementsAre("a"));
}

TEST_F(OutputFile, NewFileHasTheUsualPermissionsAndAnOldOneKeepsIts) {
  const mode_t mask = umask(022);
  write_output_file(path("a"), "x");
  umask(mask);
  EXPECT_EQ(fs::status(path("a")).permissions(), fs::perms{0644});
  fs::permissions(path("a"), fs::perms{0600});
  write_output_file(path("a"), "y");
  EXPECT_EQ(fs::status(path("a")).permissions(), fs::perms{0600});
}

TEST_F(OutputFile, SymbolicLinkStaysOne) {
  write_output_file(path("a"), "old");
  fs::create_symlink("a", path("link"));
  write_output_file(path("link"), "new");
  EXPECT_TRUE(fs::is_symlink(path("link")));
  EXPECT_EQ(contents(path("a")), "new");
}

constexpr int kFailedToWrite = 7;

// A limit on the size of files makes the write fail half way. Ends the process.
void write_beyond_limit(const std::string& path) {
  const rlimit limit{4096, 4096};
  setrlimit(RLIMIT_FSIZE, &limit);
  std::signal(SIGXFSZ, SIG_IGN);
  try {
    write_output_file(path, std::string(100000, 'x'));
  } catch (const IoError&) {
    std::exit(kFailedToWrite);
  }
  std::exit(0);
}

TEST_F(OutputFile, FailureLeavesTheOldFileAndNoOther) {
  write_output_file(path("a"), "old");
  ASSERT_EXIT(write_beyond_limit(path("a")), testing::ExitedWithCode(kFailedToWrite), "");
  EXPECT_EQ(contents(path("a")), "old");
  EXPECT_THAT(names(), ElementsAre("a"));
}

TEST_F(OutputFile, FolderThatDoesNotExistIsAnError) {
  EXPECT_THROW(write_output_file(path("no/such/a"), "x"), IoError);
  EXPECT_THROW(write_output_file(folder_.string(), "x"), IoError);
  EXPECT_THAT(names(), IsEmpty());
}

TEST_F(OutputFile, DeviceIsWrittenToAndNotReplaced) {
  write_output_file("/dev/null", "x");
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  EXPECT_THROW(write_output_file("/dev/full", "x"), IoError);
}

TEST_F(OutputFile, WhetherItCanBeWrittenIsToldBefore) {
  EXPECT_NO_THROW(require_writable(path("a")));
  EXPECT_THAT(names(), IsEmpty());
  write_output_file(path("a"), "old");
  EXPECT_NO_THROW(require_writable(path("a")));
  EXPECT_EQ(contents(path("a")), "old");
  EXPECT_NO_THROW(require_writable("/dev/null"));
  EXPECT_THROW(require_writable(folder_.string()), IoError);
  EXPECT_THROW(require_writable(path("nowhere/a")), IoError);
  EXPECT_THROW(require_writable(path("a/below")), IoError);
}

}  // namespace
}  // namespace lowtide::cli
