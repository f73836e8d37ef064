// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <mutex>
#include <vector>

namespace lowtide::tier {

// A stretch of a file, in whole blocks.
struct Extent {
  std::int64_t offset = 0;
  std::int64_t bytes = 0;
  friend bool operator==(const Extent&, const Extent&) = default;
};

// Which blocks of a file are in use, under a cap. What is asked for is given in one stretch where
// there is one, else in several: so the cap is all that is ever in the way. Any thread.
class Extents {
 public:
  // What a disk reads and writes at once, with O_DIRECT.
  static constexpr std::int64_t kBlockBytes = 4096;

  explicit Extents(std::int64_t cap_bytes);

  // Whole blocks for so many bytes, at least one. Nothing when the cap does not allow it.
  std::vector<Extent> allocate(std::int64_t bytes);
  // Requires: what allocate() returned.
  void free(const std::vector<Extent>& extents);

  static std::int64_t rounded(std::int64_t bytes);
  std::int64_t cap_bytes() const { return cap_bytes_; }
  std::int64_t held_bytes() const;
  std::int64_t peak_bytes() const;

 private:
  // These need the lock.
  Extent take(std::map<std::int64_t, std::int64_t>::iterator stretch, std::int64_t bytes);
  bool take_one_stretch(std::int64_t bytes, std::vector<Extent>& taken);

  const std::int64_t cap_bytes_;
  mutable std::mutex mutex_;
  // The members below are guarded by mutex_. By offset: the length; no two are neighbours. From
  // end_bytes_ on, the file was never used.
  std::map<std::int64_t, std::int64_t> free_;
  std::int64_t end_bytes_ = 0;
  std::int64_t held_bytes_ = 0;
  std::int64_t peak_bytes_ = 0;
};

}  // namespace lowtide::tier
