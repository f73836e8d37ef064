// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
//
// What a process of its own is needed for: one that is killed, and disks that are full.
#include <csignal>
#include <functional>
#include <vector>

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mount.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run/tier/spill_file.h"
#include "run/tier/tier_test.h"

namespace lowtide::tier {
namespace {

constexpr int kFine = 0;
constexpr int kWrong = 1;
constexpr int kNotHere = 77;

// Runs it in a child, which ends with what it returns.
pid_t start(const std::function<int()>& body) {
  const pid_t child = fork();
  if (child == 0) _exit(body());
  return child;
}

int status_of(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return status;
}

TEST(SpillProcess, KilledInTheMiddleLeavesNothing) {
  const TempFolder folder;
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t child = start([&] {
    SpillFile file({.folder = folder.path(), .cap_bytes = 64 << 20});
    const Buffer buffer(16 << 20, 1);
    std::vector<SpilledP> spilled;
    for (bool is_first = true;; is_first = false) {
      const SpilledP next = file.store(buffer.data(), buffer.bytes());
      next->wait();
      if (is_first && write(ready[1], "x", 1) != 1) return kWrong;
    }
  });
  char byte = 0;
  ASSERT_EQ(read(ready[0], &byte, 1), 1);
  EXPECT_TRUE(folder.is_empty());
  kill(child, SIGKILL);
  EXPECT_TRUE(WIFSIGNALED(status_of(child)));
  EXPECT_TRUE(folder.is_empty());
  close(ready[0]);
  close(ready[1]);
}

// What fits is stored and comes back; what does not is said to be not stored.
int expect_room_for_some(const std::string& folder, bool may_use_uring) {
  constexpr std::int64_t kBytes = 1 << 20;
  SpillFile file({.folder = folder, .cap_bytes = 64 * kBytes, .may_use_uring = may_use_uring});
  std::vector<SpilledP> spilled;
  std::vector<Buffer> values;
  for (std::uint64_t i = 0; i < 32; ++i) {
    values.emplace_back(kBytes, i);
    spilled.push_back(file.store(values.back().data(), kBytes));
  }
  int stored = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    spilled[i]->wait();
    if (!spilled[i]->failure().empty()) continue;
    Buffer read(kBytes);
    file.load(spilled[i], read.data());
    spilled[i]->wait();
    if (!spilled[i]->failure().empty() || !read.has_bytes_of(values[i])) return kWrong;
    ++stored;
  }
  return stored > 0 && stored < 32 && file.stats().failed_writes == 32 - stored ? kFine : kWrong;
}

TEST(SpillProcess, AFileThatMayNotGrowIsNoHarm) {
  const TempFolder folder;
  for (const bool may_use_uring : {false, true}) {
    const pid_t child = start([&] {
      const rlimit limit = {8 << 20, 8 << 20};
      std::signal(SIGXFSZ, SIG_IGN);
      if (setrlimit(RLIMIT_FSIZE, &limit) != 0) return kNotHere;
      return expect_room_for_some(folder.path(), may_use_uring);
    });
    EXPECT_EQ(WEXITSTATUS(status_of(child)), kFine);
  }
}

TEST(SpillProcess, AFullDiskIsNoHarm) {
  const TempFolder folder;
  for (const bool may_use_uring : {false, true}) {
    const pid_t child = start([&] {
      const bool is_apart = unshare(CLONE_NEWNS) == 0 || unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0;
      if (!is_apart || mount("none", "/", nullptr, MS_REC | MS_PRIVATE, nullptr) != 0) {
        return kNotHere;
      }
      if (mount("none", folder.path().c_str(), "tmpfs", 0, "size=8m") != 0) return kNotHere;
      return expect_room_for_some(folder.path(), may_use_uring);
    });
    const int status = WEXITSTATUS(status_of(child));
    if (status == kNotHere) GTEST_SKIP() << "nothing may be mounted here";
    EXPECT_EQ(status, kFine);
  }
}

}  // namespace
}  // namespace lowtide::tier
