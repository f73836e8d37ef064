// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "cli/torch/host_facts.h"

#include <gtest/gtest.h>

namespace lowtide::cli {
namespace {

TEST(HostFacts, TorchThatIsLoadedIsTheOneBuiltWith) {
  const HostFacts facts = probe_host();
  EXPECT_NE(facts.torch_loaded, "");
  EXPECT_EQ(series_of(facts.torch_loaded), series_of(facts.torch_built));
  EXPECT_GT(facts.memory.total_bytes, 1 << 20);
  EXPECT_GE(facts.threads, 1);
}

TEST(HostFacts, VersionsAreFound) {
  EXPECT_EQ(version_in("PyTorch built with:\n - Build settings: A=1, TORCH_VERSION=2.11.0, B=2"),
            "2.11.0");
  EXPECT_EQ(version_in("TORCH_VERSION=2.12.1\n"), "2.12.1");
  EXPECT_EQ(version_in("nothing of it"), "");
  EXPECT_EQ(series_of("2.11.0+cu128"), "2.11");
  EXPECT_EQ(series_of("2.12"), "2.12");
  EXPECT_EQ(series_of("3"), "3");
}

}  // namespace
}  // namespace lowtide::cli
