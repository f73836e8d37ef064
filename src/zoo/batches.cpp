// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "zoo/batches.h"

#include <numeric>
#include <utility>

#include "base/check.h"
#include "base/random.h"

namespace lowtide::zoo {

Batches::Batches(std::int64_t examples, std::int64_t batch, std::uint64_t seed)
    : examples_(examples), batch_(batch), seed_(seed) {
  LT_REQUIRE(batch > 0, "a batch needs at least one example; it has ", batch);
  LT_REQUIRE(examples >= batch, "the data does not fill one batch of ", batch, ": it has ",
             examples, " examples");
}

std::vector<std::int64_t> Batches::at(std::int64_t step) {
  const std::int64_t epoch = step / steps_an_epoch();
  if (epoch != epoch_) shuffle(epoch);
  const auto first = order_.begin() + step % steps_an_epoch() * batch_;
  return {first, first + batch_};
}

void Batches::shuffle(std::int64_t epoch) {
  order_.resize(static_cast<std::size_t>(examples_));
  std::iota(order_.begin(), order_.end(), 0);
  // Each seed is a number drawn, so that epoch 1 of seed 1 is not epoch 0 of seed 2.
  base::Random epochs(base::Random(seed_).next() + static_cast<std::uint64_t>(epoch));
  base::Random random(epochs.next());
  for (std::size_t i = order_.size() - 1; i > 0; --i) {
    std::swap(order_[i], order_[random.below(i + 1)]);
  }
  epoch_ = epoch;
}

}  // namespace lowtide::zoo
