// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <vector>

namespace lowtide::zoo {

// Which examples each batch of a training has: all of them in another order every epoch, less what
// does not fill a batch. A step's batch follows from its number and the seed alone, so a training
// that goes on from a checkpoint sees what it would have seen.
class Batches {
 public:
  // Throws InvalidInput if the examples do not fill one batch.
  Batches(std::int64_t examples, std::int64_t batch, std::uint64_t seed);

  std::int64_t steps_an_epoch() const { return examples_ / batch_; }
  // The numbers of the examples for step `step`, counted from 0 over all epochs.
  std::vector<std::int64_t> at(std::int64_t step);

 private:
  void shuffle(std::int64_t epoch);

  const std::int64_t examples_;
  const std::int64_t batch_;
  const std::uint64_t seed_;
  // The order of the epoch that was asked for last; -1: none yet.
  std::int64_t epoch_ = -1;
  std::vector<std::int64_t> order_;
};

}  // namespace lowtide::zoo
