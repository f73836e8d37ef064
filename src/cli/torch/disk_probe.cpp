// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "cli/torch/disk_probe.h"

#include <cstdlib>
#include <memory>

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/vfs.h>

#include "base/bytes.h"
#include "base/check.h"
#include "base/random.h"
#include "run/tier/extents.h"
#include "run/tier/spill_file.h"

namespace lowtide::cli {
namespace {

using Memory = std::unique_ptr<void, decltype(&std::free)>;

// Filled with what no disk can pack.
Memory make_memory(std::int64_t bytes) {
  Memory memory(std::aligned_alloc(tier::Extents::kBlockBytes, static_cast<std::size_t>(bytes)),
                &std::free);
  if (memory == nullptr) throw std::bad_alloc();
  base::Random random(1);
  auto* words = static_cast<std::uint64_t*>(memory.get());
  for (std::int64_t i = 0; i < bytes / 8; ++i) words[i] = random.next();
  return memory;
}

void wait_for(const tier::SpilledP& spilled) {
  spilled->wait();
  const std::string failure = spilled->failure();
  if (!failure.empty()) throw IoError(failure);
}

bool is_in_memory(const std::string& folder) {
  struct statfs info {};
  return ::statfs(folder.c_str(), &info) == 0 && info.f_type == TMPFS_MAGIC;
}

void measure(DiskFacts& facts, std::int64_t bytes) {
  tier::SpillFile file({.folder = facts.folder, .cap_bytes = bytes});
  LT_REQUIRE(facts.free_bytes >= bytes, "there is no room for the ", base::format_bytes(bytes),
             " that are written to measure it");
  const Memory memory = make_memory(bytes);
  const tier::SpilledP spilled = file.store(memory.get(), bytes);
  wait_for(spilled);
  file.load(spilled, memory.get());
  wait_for(spilled);
  facts.io = file.io_name();
  facts.is_memory = is_in_memory(facts.folder);
  facts.is_direct = file.is_direct();
  facts.write_bytes_per_second = file.write_bytes_per_second();
  facts.read_bytes_per_second = file.read_bytes_per_second();
}

}  // namespace

DiskFacts probe_disk(const std::string& folder, std::int64_t bytes) {
  DiskFacts facts;
  facts.folder = folder;
  facts.free_bytes = tier::free_bytes_in(folder);
  try {
    measure(facts, tier::Extents::rounded(bytes));
  } catch (const Error& error) {
    facts.failure = error.what();
  } catch (const std::bad_alloc&) {
    facts.failure = "the host's memory does not suffice to measure it";
  }
  return facts;
}

bool may_use_uring() {
  const tier::OpenFile file(::open("/dev/null", O_RDONLY | O_CLOEXEC));
  return tier::make_uring_io(file.descriptor(), 1) != nullptr;
}

}  // namespace lowtide::cli
