// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "cli/torch/disk_probe.h"
#include "cli/torch/gpu_probe.h"
#include "cli/torch/host_facts.h"

// What a machine offers to trainings inside a budget, and what it lacks.

namespace lowtide::cli {

struct GpuCheck {
  GpuFacts facts;
  // Nothing if torch cannot use it; `failure` says why.
  std::optional<LinkFacts> link;
  std::string failure;
};

struct Checkup {
  HostFacts host;
  // As in DriverFacts: its version, and the newest CUDA that it knows.
  std::string driver_version{};
  int cuda_version = 0;
  std::vector<GpuCheck> gpus;
  bool may_use_uring = false;
  DiskFacts disk;
  // The user named the folder, so it is to work.
  bool is_disk_wanted = false;
};

// Measures for a second or so. An empty folder: the one for temporary files. Does not throw for
// anything that is not there.
Checkup check_machine(const std::string& spill_folder);

// Both in one line.
struct Lack {
  std::string what;
  std::string remedy;
  // Without it something does not work; else it only is slower or smaller.
  bool is_needed = false;
};

std::vector<Lack> lacks_of(const Checkup& checkup);

// "12.4" of 12040.
std::string cuda_version_text(int version);

}  // namespace lowtide::cli
