// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "session/spill.h"

#include <utility>

#include "base/bytes.h"
#include "base/check.h"
#include "session/warn.h"

namespace lowtide::session {
namespace {

tier::WrapIo& wrapper() {
  static tier::WrapIo wrap;
  return wrap;
}

// The rest of the disk is for others.
std::int64_t default_cap(const std::string& folder) { return tier::free_bytes_in(folder) / 4 * 3; }

}  // namespace

std::shared_ptr<tier::SpillFile> open_spill_file(const SessionOptions& options) {
  if (options.spill_dir.empty()) {
    LT_REQUIRE(options.spill_cap.empty(), "spill_cap is given but no spill_dir: name a folder");
    return nullptr;
  }
  LT_REQUIRE(
      options.means != Means::kRecompute,
      "values go to the spill folder by way of host memory, which Means::kRecompute does not "
      "allow: use Means::kMixed or Means::kHost");
  const std::int64_t cap = options.spill_cap.empty() ? default_cap(options.spill_dir)
                                                     : base::parse_bytes(options.spill_cap);
  LT_REQUIRE(cap >= 0, "spill_cap must not be negative, but is \"", options.spill_cap, "\"");
  auto file =
      std::make_shared<tier::SpillFile>(tier::SpillOptions{.folder = options.spill_dir,
                                                           .cap_bytes = cap,
                                                           .may_use_uring = options.spill_uring,
                                                           .wrap_io = wrapper()});
  const std::string warning = tier::warning_about(options.spill_dir);
  if (!warning.empty()) warn(warning);
  file->try_out();
  return file;
}

void wrap_spill_io(tier::WrapIo wrap) { wrapper() = std::move(wrap); }

}  // namespace lowtide::session
