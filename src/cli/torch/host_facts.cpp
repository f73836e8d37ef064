// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "cli/torch/host_facts.h"

#include <thread>

#include <ATen/Parallel.h>
#include <ATen/Version.h>
#include <dlfcn.h>
#include <sys/resource.h>
#include <torch/version.h>

namespace lowtide::cli {
namespace {

bool can_load(const char* library) {
  void* const loaded = ::dlopen(library, RTLD_LAZY | RTLD_LOCAL);
  if (loaded != nullptr) ::dlclose(loaded);
  return loaded != nullptr;
}

std::optional<std::int64_t> lock_limit() {
  rlimit limit{};
  if (::getrlimit(RLIMIT_MEMLOCK, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
    return std::nullopt;
  }
  return static_cast<std::int64_t>(limit.rlim_cur);
}

}  // namespace

HostFacts probe_host() {
  return {.memory = train::host_memory(),
          .lock_limit_bytes = lock_limit(),
          .processors = static_cast<int>(std::thread::hardware_concurrency()),
          .threads = at::get_num_threads(),
          .torch_built = TORCH_VERSION,
          .torch_loaded = version_in(at::show_config()),
          .has_cufile = can_load("libcufile.so.0")};
}

std::string version_in(std::string_view torch_config) {
  constexpr std::string_view kKey = "TORCH_VERSION=";
  const std::size_t key = torch_config.find(kKey);
  if (key == std::string_view::npos) return {};
  const std::string_view rest = torch_config.substr(key + kKey.size());
  return std::string(rest.substr(0, rest.find_first_of(", \n")));
}

std::string series_of(std::string_view version) {
  const std::size_t minor = version.find('.');
  if (minor == std::string_view::npos) return std::string(version);
  return std::string(version.substr(0, version.find_first_not_of("0123456789", minor + 1)));
}

}  // namespace lowtide::cli
