// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "train/host_memory.h"

#include <algorithm>
#include <fstream>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

#include "lowtide/errors.h"

namespace lowtide::train {
namespace {

namespace fs = std::filesystem;

constexpr std::int64_t kMiB = std::int64_t{1} << 20;

// What a kernel shows, in a folder of this test alone: a machine of 1000 MiB, 600 MiB of it free.
class HostMemoryOf : public testing::Test {
 protected:
  HostMemoryOf() {
    write("proc/meminfo", "MemTotal:  1024000 kB\nMemFree: 1 kB\nMemAvailable:  614400 kB\n");
  }
  ~HostMemoryOf() override { fs::remove_all(root_); }

  void write(const std::string& path, const std::string& text) const {
    fs::create_directories((root_ / path).parent_path());
    std::ofstream(root_ / path) << text;
  }
  void write(const std::string& path, std::int64_t mebibytes) const {
    write(path, std::to_string(mebibytes * kMiB) + "\n");
  }

  const fs::path root_ =
      fs::temp_directory_path() / ("lowtide_host_memory_" + std::to_string(getpid()) + "_" +
                                   testing::UnitTest::GetInstance()->current_test_info()->name());
};

TEST_F(HostMemoryOf, MachineWithoutGroupsIsTheMachines) {
  const HostMemory memory = host_memory(root_);
  EXPECT_EQ(memory.total_bytes, 1000 * kMiB);
  EXPECT_EQ(memory.limit_bytes, std::nullopt);
  EXPECT_EQ(memory.free_bytes, 600 * kMiB);
}

TEST_F(HostMemoryOf, GroupsOfTheSecondVersionIsWhatTheTightestLeaves) {
  write("proc/self/cgroup", "0::/outer/inner\n");
  write("sys/fs/cgroup/outer/inner/memory.max", "max\n");
  write("sys/fs/cgroup/outer/memory.max", 400);
  write("sys/fs/cgroup/outer/memory.current", 350);
  write("sys/fs/cgroup/outer/memory.stat",
        "anon 7\ninactive_file 31457280\nactive_file 20971520\n");
  const HostMemory memory = host_memory(root_);
  EXPECT_EQ(memory.limit_bytes, 400 * kMiB);
  EXPECT_EQ(memory.free_bytes, 100 * kMiB);
}

TEST_F(HostMemoryOf, GroupsOfTheFirstVersionIsFoundWhereAContainerSeesIt) {
  // The path is the host's; inside, the group is at the top.
  write("proc/self/cgroup", "4:memory:/docker/abc\n1:cpu:/\n");
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", 200);
  write("sys/fs/cgroup/memory/memory.usage_in_bytes", 150);
  const HostMemory memory = host_memory(root_);
  EXPECT_EQ(memory.limit_bytes, 200 * kMiB);
  EXPECT_EQ(memory.free_bytes, 50 * kMiB);
}

TEST_F(HostMemoryOf, GroupsWithoutALimitIsTheMachines) {
  write("proc/self/cgroup", "4:memory:/\n0::/\n");
  write("sys/fs/cgroup/memory/memory.limit_in_bytes", "9223372036854771712\n");
  write("sys/fs/cgroup/memory/memory.usage_in_bytes", 900);
  const HostMemory memory = host_memory(root_);
  EXPECT_EQ(memory.limit_bytes, std::nullopt);
  EXPECT_EQ(memory.free_bytes, 600 * kMiB);
}

TEST_F(HostMemoryOf, GroupThatTakesMoreThanItMayHasNothingFree) {
  write("proc/self/cgroup", "0::/\n");
  write("sys/fs/cgroup/memory.max", 100);
  write("sys/fs/cgroup/memory.current", 120);
  EXPECT_EQ(host_memory(root_).free_bytes, 0);
}

TEST(HostMemory, OfThisMachineIsTold) {
  const HostMemory memory = host_memory();
  EXPECT_GT(memory.total_bytes, 0);
  EXPECT_GT(memory.free_bytes, 0);
  EXPECT_LE(memory.free_bytes, memory.limit_bytes.value_or(memory.total_bytes));
}

TEST(ShareOfHost, IsWhatIsAskedForWhereThereIsEnough) {
  const HostShare share = share_of({.total_bytes = 9000 * kMiB, .free_bytes = 8000 * kMiB},
                                   1000 * kMiB, /*host_cap_bytes=*/300 * kMiB);
  EXPECT_EQ(share.budget_bytes, 1000 * kMiB);
  EXPECT_EQ(share.host_cap_bytes, 300 * kMiB);
}

TEST(ShareOfHost, StaysWithinThreeQuartersWithWhatIsMoved) {
  const HostMemory memory = {.total_bytes = 9000 * kMiB, .free_bytes = 2000 * kMiB};
  for (const std::int64_t budget : {10, 1000, 1400, 1500, 9000}) {
    for (const std::optional<std::int64_t> cap :
         {std::optional<std::int64_t>(), std::optional(0 * kMiB), std::optional(9000 * kMiB)}) {
      const HostShare share = share_of(memory, budget * kMiB, cap);
      EXPECT_LE(share.budget_bytes + share.host_cap_bytes, 1500 * kMiB);
      EXPECT_EQ(share.budget_bytes, std::min(budget, cap == 0 ? 1500L : 1436L) * kMiB);
      EXPECT_EQ(share.host_cap_bytes > 0, cap != 0);
    }
  }
}

TEST(ShareOfHost, LeavesLibrariesTheirs) {
  const HostShare share =
      share_of({.total_bytes = 900 * kMiB, .free_bytes = 400 * kMiB}, 900 * kMiB, std::nullopt);
  EXPECT_EQ(share.budget_bytes + share.host_cap_bytes, 208 * kMiB);
}

// As in a group that is full: nothing free is not the same as nothing known.
TEST(ShareOfHost, OfNextToNothingIsRefused) {
  for (const std::int64_t free : {0, 1, 300}) {
    EXPECT_THROW(share_of({.total_bytes = 9000 * kMiB, .free_bytes = free * kMiB}, kMiB, {}),
                 OutOfMemory);
  }
}

}  // namespace
}  // namespace lowtide::train
