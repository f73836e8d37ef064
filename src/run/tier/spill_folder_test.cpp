// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "run/tier/spill_folder.h"

#include <filesystem>
#include <fstream>

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "lowtide/errors.h"
#include "run/tier/tier_test.h"

namespace lowtide::tier {
namespace {

using testing::HasSubstr;

std::string refusal_of(const std::string& folder) {
  try {
    open_nameless_file(folder);
  } catch (const InvalidInput& error) {
    return error.what();
  }
  return "none";
}

void expect_nameless_and_ours(const OpenFile& file, const TempFolder& folder) {
  EXPECT_TRUE(folder.is_empty());
  struct stat info {};
  ASSERT_EQ(fstat(file.descriptor(), &info), 0);
  EXPECT_EQ(info.st_nlink, 0U);
  EXPECT_EQ(info.st_size, 0);
  EXPECT_EQ(info.st_mode & 0777U, 0600U);
  EXPECT_NE(fcntl(file.descriptor(), F_GETFD) & FD_CLOEXEC, 0);
}

TEST(SpillFolder, ItsFileHasNoNameAndIsOnlyOurs) {
  const TempFolder folder;
  expect_nameless_and_ours(open_nameless_file(folder.path()), folder);
}

TEST(SpillFolder, ItsFileHasNoNameWhereThatHasToBeTakenAway) {
  const TempFolder folder;
  const OpenFile first(open_and_unlink(folder.path()));
  const OpenFile second(open_and_unlink(folder.path()));
  expect_nameless_and_ours(first, folder);
  ASSERT_EQ(write(first.descriptor(), "abc", 3), 3);
  expect_nameless_and_ours(second, folder);
  EXPECT_EQ(open_and_unlink(folder.path() + "/missing"), -1);
}

TEST(SpillFolder, AFileCanBeReadThroughTheKernelsCacheIfNeedBe) {
  const TempFolder folder;
  OpenFile file = open_nameless_file(folder.path());
  if (!file.is_direct()) GTEST_SKIP() << "no O_DIRECT in the file system of the build folder";
  EXPECT_TRUE(file.stop_direct());
  EXPECT_FALSE(file.is_direct());
  EXPECT_FALSE(file.stop_direct());
}

TEST(SpillFolder, SaysWhatIsWrongWithOneThatCannotBeUsed) {
  const TempFolder folder;
  EXPECT_THAT(refusal_of(folder.path() + "/missing"), HasSubstr("does not exist"));
  const std::string text = folder.path() + "/text";
  std::ofstream(text) << "x";
  EXPECT_THAT(refusal_of(text), HasSubstr("is no folder"));
  EXPECT_THAT(refusal_of(text + "/below"), HasSubstr("cannot be looked at"));
}

TEST(SpillFolder, SaysThatOneIsReadOnly) {
  constexpr uid_t kNobody = 65534;
  const TempFolder folder;
  std::filesystem::permissions(folder.path(), std::filesystem::perms(0555));
  // Root may write everywhere.
  const bool is_root = geteuid() == 0;
  if (is_root) {
    ASSERT_EQ(seteuid(kNobody), 0);
  }
  const std::string refusal = refusal_of(folder.path());
  if (is_root) {
    ASSERT_EQ(seteuid(0), 0);
  }
  EXPECT_THAT(refusal, testing::AnyOf(HasSubstr("allow us to write there"),
                                      HasSubstr("cannot be looked at")));
}

TEST(SpillFolder, WarnsOfOneThatEveryoneCanWrite) {
  const TempFolder folder;
  using std::filesystem::perms;
  const auto warning_with = [&](int mode) {
    std::filesystem::permissions(folder.path(), perms(mode));
    return warning_about(folder.path());
  };
  EXPECT_EQ(warning_with(0700), "");
  EXPECT_EQ(warning_with(0755), "");
  EXPECT_THAT(warning_with(0777), HasSubstr("everyone"));
  EXPECT_EQ(warning_with(01777), "");
}

TEST(SpillFolder, KnowsWhatIsFree) {
  const TempFolder folder;
  EXPECT_GT(free_bytes_in(folder.path()), 0);
  EXPECT_EQ(free_bytes_in(folder.path() + "/missing"), 0);
}

}  // namespace
}  // namespace lowtide::tier
