// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "cli/torch/checkup.h"

#include <algorithm>
#include <filesystem>
#include <utility>

#include "base/bytes.h"
#include "base/check.h"

namespace lowtide::cli {
namespace {

using base::concat;

// Long enough for a disk to show what it can do.
constexpr std::int64_t kTrialBytes = std::int64_t{256} << 20;

std::string temporary_folder() {
  std::error_code error;
  const std::filesystem::path folder = std::filesystem::temp_directory_path(error);
  return error ? "/tmp" : folder.string();
}

void add_torch(std::vector<Lack>& lacks, const HostFacts& host) {
  if (host.torch_loaded.empty()) return;
  if (series_of(host.torch_loaded) == series_of(host.torch_built)) return;
  lacks.push_back({concat("torch ", host.torch_loaded, " is loaded, but this was built with ",
                          host.torch_built),
                   "build Lowtide against the torch that is loaded", true});
}

void add_gpus(std::vector<Lack>& lacks, const Checkup& checkup) {
  if (checkup.gpus.empty()) {
    const bool has_driver = checkup.cuda_version > 0;
    lacks.push_back({has_driver ? "no GPU is visible: trainings run on the CPU"
                                : "no GPU, or no driver for it: trainings run on the CPU",
                     has_driver ? "see what CUDA_VISIBLE_DEVICES says, if there is one"
                                : "install NVIDIA's driver, if there is one"});
  }
  for (std::size_t i = 0; i < checkup.gpus.size(); ++i) {
    const GpuCheck& gpu = checkup.gpus[i];
    if (gpu.link) continue;
    lacks.push_back({concat("torch cannot use GPU ", i, ", ", gpu.facts.name, ": ", gpu.failure),
                     concat("use a torch with CUDA, no newer than the driver's ",
                            cuda_version_text(checkup.cuda_version),
                            ", and see that nobody else fills the GPU"),
                     true});
  }
}

// Copies to and from a GPU want pinned memory. Where more of that was had than may be locked, the
// driver does not count it.
void add_lock_limit(std::vector<Lack>& lacks, const Checkup& checkup) {
  const std::optional<std::int64_t>& limit = checkup.host.lock_limit_bytes;
  if (!limit || checkup.gpus.empty()) return;
  const bool is_known_to_pass =
      *limit < kLinkTrialBytes && std::all_of(checkup.gpus.begin(), checkup.gpus.end(),
                                              [](const GpuCheck& gpu) { return gpu.link; });
  if (is_known_to_pass) return;
  lacks.push_back({concat("a process may lock no more than ", base::format_bytes(*limit),
                          " of memory, so pinned memory for copies may be refused"),
                   "raise it: ulimit -l unlimited, memlock in /etc/security/limits.conf, or "
                   "--ulimit memlock=-1 for a container"});
}

void add_cufile(std::vector<Lack>& lacks, const Checkup& checkup) {
  if (checkup.host.has_cufile || checkup.gpus.empty()) return;
  lacks.push_back(
      {"cuFile is not there: what is spilled passes through host memory, as Lowtide has "
       "it in any case",
       "nothing is to be done; other programs get it from libcufile, of NVIDIA's "
       "GPUDirect Storage"});
}

void add_disk(std::vector<Lack>& lacks, const Checkup& checkup) {
  const DiskFacts& disk = checkup.disk;
  if (!checkup.may_use_uring) {
    lacks.push_back({"io_uring is not there: the spill file is read and written by threads",
                     "build with liburing, and allow it: sysctl kernel.io_uring_disabled=0, or the "
                     "container's seccomp profile"});
  }
  if (!disk.failure.empty()) {
    lacks.push_back({concat("values cannot be spilled to ", disk.folder, ": ", disk.failure),
                     "name a folder on a fast disk with --spill-dir", checkup.is_disk_wanted});
  } else if (disk.is_memory) {
    lacks.push_back({concat(disk.folder, " is memory and no disk: spilling there gains nothing"),
                     "name a folder on a fast disk with --spill-dir"});
  } else if (!disk.is_direct) {
    lacks.push_back(
        {concat("the file system of ", disk.folder,
                " knows no O_DIRECT: what is spilled passes through the kernel's cache"),
         "name a folder on another file system with --spill-dir"});
  }
}

}  // namespace

Checkup check_machine(const std::string& spill_folder) {
  DriverFacts driver = probe_driver();
  Checkup checkup = {
      .host = probe_host(),
      .driver_version = driver.version,
      .cuda_version = driver.cuda_version,
      .gpus = {},
      .may_use_uring = may_use_uring(),
      .disk = probe_disk(spill_folder.empty() ? temporary_folder() : spill_folder, kTrialBytes),
      .is_disk_wanted = !spill_folder.empty()};
  for (std::size_t i = 0; i < driver.gpus.size(); ++i) {
    GpuCheck gpu = {.facts = std::move(driver.gpus[i]), .link = {}, .failure = {}};
    gpu.link = measure_link(static_cast<int>(i), gpu.failure);
    checkup.gpus.push_back(std::move(gpu));
  }
  return checkup;
}

std::vector<Lack> lacks_of(const Checkup& checkup) {
  std::vector<Lack> lacks;
  add_torch(lacks, checkup.host);
  add_gpus(lacks, checkup);
  add_lock_limit(lacks, checkup);
  add_cufile(lacks, checkup);
  add_disk(lacks, checkup);
  return lacks;
}

std::string cuda_version_text(int version) {
  return concat(version / 1000, ".", version % 1000 / 10);
}

}  // namespace lowtide::cli
