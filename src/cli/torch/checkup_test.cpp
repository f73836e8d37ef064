// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "cli/torch/checkup.h"

#include <functional>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lowtide::cli {
namespace {

using testing::HasSubstr;

// A machine that has everything.
Checkup whole_machine() {
  Checkup checkup;
  checkup.host.torch_built = "2.11.0+cu128";
  checkup.host.torch_loaded = "2.11.1";
  checkup.host.has_cufile = true;
  checkup.cuda_version = 13000;
  checkup.gpus = {{.facts = {.name = "H200"}, .link = LinkFacts{50e9, 50e9}, .failure = ""}};
  checkup.may_use_uring = true;
  checkup.disk.folder = "spill";
  checkup.disk.is_direct = true;
  return checkup;
}

TEST(Checkup, FindsNothingWhereThereIsEverything) {
  EXPECT_TRUE(lacks_of(whole_machine()).empty());
}

TEST(Checkup, SaysWhatIsLackingAndWhetherItMatters) {
  struct Case {
    std::function<void(Checkup&)> harm;
    const char* what;
    bool is_needed;
  };
  const std::vector<Case> cases = {
      {[](Checkup& it) { it.host.torch_loaded = "2.12.0"; }, "torch 2.12.0 is loaded", true},
      {[](Checkup& it) { it.gpus.clear(); }, "no GPU is visible", false},
      {[](Checkup& it) { it.gpus.clear(), it.cuda_version = 0; }, "no driver for it", false},
      {[](Checkup& it) { it.gpus[0].link.reset(); }, "torch cannot use GPU 0, H200", true},
      {[](Checkup& it) { it.host.has_cufile = false; }, "cuFile is not there", false},
      {[](Checkup& it) { it.host.lock_limit_bytes = std::int64_t{1} << 30; },
       "may lock no more than 1.00 GiB", false},
      {[](Checkup& it) { it.may_use_uring = false; }, "io_uring is not there", false},
      {[](Checkup& it) { it.disk.failure = "it is full"; }, "spill: it is full", false},
      {[](Checkup& it) { it.disk.failure = "it is full", it.is_disk_wanted = true; },
       "spill: it is full", true},
      {[](Checkup& it) { it.disk.is_direct = false; }, "knows no O_DIRECT", false},
      {[](Checkup& it) { it.disk.is_memory = true; }, "is memory and no disk", false},
  };
  for (const Case& test : cases) {
    Checkup checkup = whole_machine();
    test.harm(checkup);
    const std::vector<Lack> lacks = lacks_of(checkup);
    ASSERT_EQ(lacks.size(), 1U) << test.what;
    EXPECT_THAT(lacks[0].what, HasSubstr(test.what));
    EXPECT_NE(lacks[0].remedy, "");
    EXPECT_EQ(lacks[0].is_needed, test.is_needed) << test.what;
  }
}

// More was pinned to measure the link than may be locked.
TEST(Checkup, LockLimitThatDoesNotBindIsNoLack) {
  Checkup checkup = whole_machine();
  checkup.host.lock_limit_bytes = std::int64_t{8} << 20;
  EXPECT_TRUE(lacks_of(checkup).empty());
  checkup.gpus[0].link.reset();
  EXPECT_EQ(lacks_of(checkup).size(), 2U);
}

TEST(Checkup, MachineWithoutAGpuNeedsNothingOfGpus) {
  Checkup checkup = whole_machine();
  checkup.gpus.clear();
  checkup.host.has_cufile = false;
  checkup.host.lock_limit_bytes = 1;
  EXPECT_EQ(lacks_of(checkup).size(), 1U);
}

TEST(Checkup, VersionsOfCudaAreWrittenAsPeopleDo) {
  EXPECT_EQ(cuda_version_text(12040), "12.4");
  EXPECT_EQ(cuda_version_text(13000), "13.0");
}

}  // namespace
}  // namespace lowtide::cli
