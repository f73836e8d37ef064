// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstdio>
#include <memory>
#include <ostream>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/bytes.h"
#include "base/check.h"
#include "cli/fact_list.h"
#include "cli/json_text.h"
#include "cli/torch/checkup.h"
#include "cli/torch/verbs.h"
#include "cli/verb_options.h"

namespace lowtide::cli {
namespace {

using base::concat;
using base::format_bytes;
using nlohmann::json;

constexpr const char* kExamples =
    "\nExamples:\n"
    "  lowtide doctor\n"
    "  lowtide doctor --spill-dir spill --json\n"
    "\nWrites 256 MiB to the folder and reads them again; nothing is left there. Exit code 0: all\n"
    "that is needed is there, be it without a GPU; 1: something is not.";

struct DoctorChoice {
  std::string spill_folder;
  bool json = false;
};

std::string speed(double bytes_per_second) {
  char text[32];
  std::snprintf(text, sizeof text, "%.2f GB/s", bytes_per_second / 1e9);
  return text;
}

std::string gpu_text(const GpuCheck& gpu) {
  std::string text = concat(gpu.facts.name, ", ", format_bytes(gpu.facts.memory_bytes),
                            ", compute capability ", gpu.facts.major, ".", gpu.facts.minor);
  if (gpu.link) {
    text += concat(", ", speed(gpu.link->to_device_bytes_per_second), " to it, ",
                   speed(gpu.link->to_host_bytes_per_second), " from it");
  }
  return text;
}

std::string disk_text(const DiskFacts& disk) {
  if (!disk.failure.empty()) return concat(disk.folder, " cannot be used");
  return concat(disk.folder, ", ", format_bytes(disk.free_bytes), " free, ",
                speed(disk.write_bytes_per_second), " written, ", speed(disk.read_bytes_per_second),
                " read, by ", disk.io, disk.is_direct ? "" : " through the kernel's cache");
}

std::string driver_text(const Checkup& checkup) {
  if (checkup.cuda_version == 0) return "none";
  return concat(checkup.driver_version.empty() ? "of unknown version" : checkup.driver_version,
                ", CUDA up to ", cuda_version_text(checkup.cuda_version));
}

void add_host(FactList& facts, const HostFacts& host) {
  facts.add("torch", concat(host.torch_loaded.empty() ? "of unknown version" : host.torch_loaded,
                            ", built with ", host.torch_built));
  facts.add("processors",
            concat(host.processors, "; torch uses ", host.threads, " for an op on the CPU"));
  facts.add("memory",
            concat(format_bytes(host.memory.total_bytes),
                   host.memory.limit_bytes ? ", of which this control group may take " +
                                                 format_bytes(*host.memory.limit_bytes)
                                           : std::string(),
                   ", ", format_bytes(host.memory.free_bytes), " free; a process may lock ",
                   host.lock_limit_bytes ? format_bytes(*host.lock_limit_bytes)
                                         : std::string("all of it")));
}

std::string text_of(const Checkup& checkup, const std::vector<Lack>& lacks, const Style& style) {
  FactList facts(style);
  add_host(facts, checkup.host);
  facts.add("driver", driver_text(checkup));
  if (checkup.gpus.empty()) facts.add("GPU", "none");
  for (const GpuCheck& gpu : checkup.gpus) facts.add("GPU", gpu_text(gpu));
  facts.add("io_uring", checkup.may_use_uring ? "allowed" : "not there or not allowed");
  facts.add("cuFile",
            concat(checkup.host.has_cufile ? "there" : "not there", "; Lowtide does without it"));
  facts.add("disk", disk_text(checkup.disk));
  std::string text = facts.text() + "\n";
  for (const Lack& lack : lacks) {
    text += concat(bold(lack.is_needed ? "missing: " : "note: ", style), lack.what, "; ",
                   lack.remedy, "\n");
  }
  return text + (lacks.empty() ? "nothing is missing\n" : "");
}

json gpus_json(const Checkup& checkup) {
  json gpus = json::array();
  for (const GpuCheck& gpu : checkup.gpus) {
    json item = {{"name", gpu.facts.name},
                 {"memory_bytes", gpu.facts.memory_bytes},
                 {"compute_capability", concat(gpu.facts.major, ".", gpu.facts.minor)}};
    if (gpu.link) {
      item["to_device_bytes_per_second"] = gpu.link->to_device_bytes_per_second;
      item["to_host_bytes_per_second"] = gpu.link->to_host_bytes_per_second;
    } else {
      item["failure"] = gpu.failure;
    }
    gpus.push_back(std::move(item));
  }
  return gpus;
}

json disk_json(const DiskFacts& disk) {
  json result = {{"folder", disk.folder}, {"free_bytes", disk.free_bytes}};
  if (!disk.failure.empty()) {
    result["failure"] = disk.failure;
    return result;
  }
  result.update({{"io", disk.io},
                 {"direct", disk.is_direct},
                 {"memory", disk.is_memory},
                 {"write_bytes_per_second", disk.write_bytes_per_second},
                 {"read_bytes_per_second", disk.read_bytes_per_second}});
  return result;
}

json json_of(const Checkup& checkup, const std::vector<Lack>& lacks) {
  json lacking = json::array();
  for (const Lack& lack : lacks) {
    lacking.push_back({{"what", lack.what}, {"remedy", lack.remedy}, {"needed", lack.is_needed}});
  }
  const HostFacts& host = checkup.host;
  return {
      {"torch_built", host.torch_built},
      {"torch_loaded", host.torch_loaded},
      {"processors", host.processors},
      {"threads", host.threads},
      {"memory_bytes", host.memory.total_bytes},
      {"memory_limit_bytes",
       host.memory.limit_bytes ? json(*host.memory.limit_bytes) : json(nullptr)},
      {"memory_free_bytes", host.memory.free_bytes},
      {"lock_limit_bytes", host.lock_limit_bytes ? json(*host.lock_limit_bytes) : json(nullptr)},
      {"driver_version",
       checkup.driver_version.empty() ? json(nullptr) : json(checkup.driver_version)},
      {"driver_cuda",
       checkup.cuda_version == 0 ? json(nullptr) : json(cuda_version_text(checkup.cuda_version))},
      {"gpus", gpus_json(checkup)},
      {"io_uring", checkup.may_use_uring},
      {"cufile", host.has_cufile},
      {"disk", disk_json(checkup.disk)},
      {"lacking", std::move(lacking)}};
}

ExitCode run_doctor(const DoctorChoice& choice, Console& console) {
  const Checkup checkup = check_machine(choice.spill_folder);
  const std::vector<Lack> lacks = lacks_of(checkup);
  console.out << (choice.json ? json_text(json_of(checkup, lacks))
                              : text_of(checkup, lacks, console.style));
  const bool is_fit =
      std::none_of(lacks.begin(), lacks.end(), [](const Lack& lack) { return lack.is_needed; });
  return is_fit ? ExitCode::kDone : ExitCode::kFailed;
}

}  // namespace

Verb add_doctor(CLI::App& program) {
  auto choice = std::make_shared<DoctorChoice>();
  CLI::App* verb =
      program.add_subcommand("doctor", "Tell what this machine offers, and what is missing");
  verb->add_option("--spill-dir", choice->spill_folder,
                   "A folder on the disk to measure (default: the one for temporary files)")
      ->type_name("DIR");
  add_json_option(*verb, choice->json);
  verb->footer(kExamples);
  return Verb{verb, [choice](Console& console) { return run_doctor(*choice, console); }};
}

}  // namespace lowtide::cli
