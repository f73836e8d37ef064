// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "estimate/gpus.h"

#include <gtest/gtest.h>

#include "lowtide/errors.h"
#include "trace/text.h"

namespace lowtide::estimate {
namespace {

TEST(Gpus, EveryNameIsACardWithMemoryAndSpeed) {
  for (const std::string& name : gpu_names()) {
    const Gpu gpu = gpu_named(name);
    EXPECT_EQ(gpu.name, name);
    EXPECT_EQ(gpu.machine.device_bytes, gpu.memory_bytes);
    EXPECT_GT(gpu.memory_bytes, kContextBytes);
    EXPECT_GT(gpu.machine.flops_per_second, 0);
  }
}

TEST(Gpus, UnknownNameIsRefusedWithTheKnownOnes) {
  try {
    gpu_named("h300");
    FAIL();
  } catch (const InvalidInput& error) {
    EXPECT_NE(std::string(error.what()).find("rtx4090"), std::string::npos);
  }
}

TEST(Gpus, WorkspacesAreThereForPassesThatMultiply) {
  const Trace trace = trace::parse_text(
      "lowtide-trace 1\nname step\n"
      "storage w 8 parameter start end\n"
      "storage a 8 activation\n"
      "storage g 8 gradient end\n"
      "op addmm forward : w -> a\n"
      "op sum backward : a -> g\n");
  const Trace with = with_library_workspaces(trace, gpu_named("h200"));
  ASSERT_EQ(with.storages().size(), 5U);
  EXPECT_EQ(with.storages()[3].name, "cublas_forward");
  EXPECT_EQ(with.storages()[3].bytes, 32 << 20);
  EXPECT_EQ(with.storages()[4].name, "cublaslt_forward");
  EXPECT_EQ(with.storages()[4].bytes, 1 << 20);
  EXPECT_EQ(with.ops().size(), trace.ops().size());
  EXPECT_EQ(with_library_workspaces(with, gpu_named("t4")).storages().size(), 5U);
}

TEST(Gpus, AProductWithoutBiasTakesCublasAlone) {
  const Trace trace = trace::parse_text(
      "lowtide-trace 1\nname step\n"
      "storage w 8 parameter start end\n"
      "storage a 8 activation\n"
      "op mm forward : w -> a\n");
  const Trace with = with_library_workspaces(trace, gpu_named("t4"));
  ASSERT_EQ(with.storages().size(), 3U);
  EXPECT_EQ(with.storages()[2].bytes, 8'519'680);
  EXPECT_TRUE(takes_library_workspace(with.ops()[0], with.storages()[2]));
}

TEST(Gpus, OnlyAmpereAndLaterMultiplyBf16) {
  for (const std::string& name : gpu_names()) {
    const bool is_earlier = name == "v100-16" || name == "t4";
    EXPECT_EQ(gpu_named(name).architecture.multiplies_bf16(), !is_earlier) << name;
  }
}

}  // namespace
}  // namespace lowtide::estimate
