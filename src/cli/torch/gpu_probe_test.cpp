// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "cli/torch/gpu_probe.h"

#include <fstream>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

namespace lowtide::cli {
namespace {

namespace fs = std::filesystem;

TEST(DriverVersion, IsThatOfTheKernelsModule) {
  const fs::path root = fs::temp_directory_path() / ("lowtide_driver_" + std::to_string(getpid()));
  fs::create_directories(root / "sys/module/nvidia");
  EXPECT_EQ(driver_version(root), "");
  std::ofstream(root / "sys/module/nvidia/version") << "570.86.15\n";
  EXPECT_EQ(driver_version(root), "570.86.15");
  fs::remove_all(root);
}

}  // namespace
}  // namespace lowtide::cli
