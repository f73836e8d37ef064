// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
//
// What every BlockIo must do.
#include "run/tier/block_io.h"

#include <cerrno>
#include <cstddef>
#include <iterator>
#include <map>
#include <vector>

#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "run/tier/spill_folder.h"
#include "run/tier/tier_test.h"

namespace lowtide::tier {
namespace {

constexpr int kDepth = 4;
constexpr std::int64_t kBytes = 64 << 10;

using Make = std::unique_ptr<BlockIo> (*)(int file, int depth);
using Kind = IoRequest::Kind;

struct Engine {
  const char* name;
  Make make;
};

class BlockIoContract : public testing::TestWithParam<Engine> {
 protected:
  void SetUp() override {
    io = GetParam().make(file.descriptor(), kDepth);
    if (!io) GTEST_SKIP() << GetParam().name << " is not available here";
  }

  TempFolder folder;
  OpenFile file = open_nameless_file(folder.path());
  std::unique_ptr<BlockIo> io;
};

TEST_P(BlockIoContract, WhatWasWrittenIsRead) {
  std::vector<Buffer> written;
  std::vector<Buffer> read;
  for (std::uint64_t i = 0; i < kDepth; ++i) {
    written.emplace_back(kBytes, i);
    read.emplace_back(kBytes);
  }
  const auto transfer = [&](Kind kind, std::vector<Buffer>& buffers) {
    for (std::uint64_t i = 0; i < kDepth; ++i) {
      io->submit({kind, buffers[i].data(), kBytes, static_cast<std::int64_t>(i) * kBytes, 100 + i});
    }
    std::map<std::uint64_t, std::int64_t> results;
    for (int i = 0; i < kDepth; ++i) {
      const IoResult result = io->wait();
      results[result.tag] = result.result;
    }
    for (std::uint64_t i = 0; i < kDepth; ++i) EXPECT_EQ(results[100 + i], kBytes);
  };
  for (int round = 0; round < 10; ++round) {
    transfer(Kind::kWrite, written);
    transfer(Kind::kRead, read);
  }
  for (std::uint64_t i = 0; i < kDepth; ++i) EXPECT_TRUE(read[i].has_bytes_of(written[i]));
}

TEST_P(BlockIoContract, NothingIsReadBehindTheEnd) {
  Buffer buffer(kBytes);
  io->submit({Kind::kRead, buffer.data(), kBytes, 0, 7});
  const IoResult result = io->wait();
  EXPECT_EQ(result.tag, 7U);
  EXPECT_EQ(result.result, 0);
}

TEST_P(BlockIoContract, AFailureIsANegativeErrno) {
  const auto broken = GetParam().make(-1, kDepth);
  Buffer buffer(kBytes);
  for (const Kind kind : {Kind::kRead, Kind::kWrite}) {
    broken->submit({kind, buffer.data(), kBytes, 0, 9});
    const IoResult result = broken->wait();
    EXPECT_EQ(result.tag, 9U);
    EXPECT_EQ(result.result, -EBADF);
  }
}

TEST_P(BlockIoContract, EndsWhatIsUnderWayBeforeItGoes) {
  const Buffer buffer(kBytes, 1);
  for (std::uint64_t i = 0; i < kDepth; ++i) {
    io->submit({Kind::kWrite, buffer.data(), kBytes, static_cast<std::int64_t>(i) * kBytes, i});
  }
  io.reset();
  const auto after = GetParam().make(file.descriptor(), kDepth);
  Buffer read(kBytes);
  after->submit({Kind::kRead, read.data(), kBytes, (kDepth - 1) * kBytes, 0});
  EXPECT_EQ(after->wait().result, kBytes);
  EXPECT_TRUE(read.has_bytes_of(buffer));
}

INSTANTIATE_TEST_SUITE_P(All, BlockIoContract,
                         testing::Values(Engine{"threads", make_thread_io},
                                         Engine{"uring", make_uring_io}),
                         [](const auto& row) { return std::string(row.param.name); });

// From here on the process may set rings up, but not use them.
bool forbid_rings() {
  sock_filter program[] = {
      {BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(seccomp_data, nr)},
      {BPF_JMP | BPF_JEQ | BPF_K, 0, 1, __NR_io_uring_enter},
      {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ERRNO | EPERM},
      {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW},
  };
  const sock_fprog filter = {.len = std::size(program), .filter = program};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) == 0;
}

// Sandboxes differ in which of its system calls they refuse.
TEST(Uring, IsNotThereWhereItMayBeSetUpButNotUsed) {
  if (!make_uring_io(-1, kDepth)) GTEST_SKIP() << "uring is not available here";
  constexpr int kAbsent = 0;
  constexpr int kPresent = 1;
  constexpr int kNoFilter = 2;
  const pid_t child = fork();
  if (child == 0) {
    if (!forbid_rings()) _exit(kNoFilter);
    _exit(make_uring_io(-1, kDepth) ? kPresent : kAbsent);
  }
  int status = 0;
  ASSERT_EQ(waitpid(child, &status, 0), child);
  ASSERT_TRUE(WIFEXITED(status));
  if (WEXITSTATUS(status) == kNoFilter) GTEST_SKIP() << "system calls cannot be filtered here";
  EXPECT_EQ(WEXITSTATUS(status), kAbsent);
}

}  // namespace
}  // namespace lowtide::tier
