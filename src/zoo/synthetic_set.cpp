// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "zoo/synthetic_set.h"

#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include <ATen/ATen.h>

#include "base/random.h"
#include "zoo/owned_tensor.h"

namespace lowtide::zoo {
namespace {

// What ImageNet has, rounded: an epoch of benchmarks takes its time.
constexpr std::int64_t kExamples = 1'000'000;
// How many different ones there are.
constexpr std::int64_t kPictures = 4096;

class SyntheticSet final : public DataSet {
 public:
  explicit SyntheticSet(InputKind kind) : kind_(kind) {}

  InputKind kind() const override { return kind_; }
  std::int64_t classes() const override { return 0; }
  std::int64_t size(Part part, const InputShape&) const override {
    return part == Part::kTraining ? kExamples : 0;
  }

  Batch batch(Part, std::span<const std::int64_t> numbers, const InputShape& shape) const override {
    return kind_ == InputKind::kPictures ? pictures(numbers, shape) : tokens(numbers, shape);
  }

 private:
  // Drawing every point anew would take longer than training on it: pictures are pieces of one long
  // row of noise, each from another point on.
  Batch pictures(std::span<const std::int64_t> numbers, const InputShape& shape) const {
    const auto count = static_cast<std::int64_t>(numbers.size());
    const std::int64_t points = shape.channels * shape.size * shape.size;
    const std::int64_t targets_each = shape.is_dense ? shape.size * shape.size : 1;
    const std::shared_ptr<const std::vector<float>> noise = noise_of(points + kPictures);
    const at::Tensor inputs = at::empty({count, shape.channels, shape.size, shape.size});
    std::vector<std::int64_t> targets;
    auto* to = inputs.mutable_data_ptr<float>();
    for (const std::int64_t number : numbers) {
      base::Random random(static_cast<std::uint64_t>(number));
      for (std::int64_t i = 0; i < targets_each; ++i) {
        targets.push_back(below(random, shape.classes));
      }
      to = std::copy_n(noise->begin() + below(random, kPictures), points, to);
    }
    const std::vector<std::int64_t> target_sizes =
        shape.is_dense ? std::vector{count, shape.size, shape.size} : std::vector{count};
    return {inputs, owned_tensor(std::move(targets), target_sizes)};
  }

  // Any thread.
  std::shared_ptr<const std::vector<float>> noise_of(std::int64_t length) const {
    const std::lock_guard lock(mutex_);
    if (noise_ != nullptr && static_cast<std::int64_t>(noise_->size()) == length) return noise_;
    auto noise = std::make_shared<std::vector<float>>();
    base::Random random(/*seed=*/0);
    for (std::int64_t i = 0; i < length; ++i) {
      noise->push_back(static_cast<float>(random.uniform()));
    }
    noise_ = std::move(noise);
    return noise_;
  }

  static Batch tokens(std::span<const std::int64_t> numbers, const InputShape& shape) {
    const auto count = static_cast<std::int64_t>(numbers.size());
    std::vector<std::int64_t> inputs, targets;
    for (const std::int64_t number : numbers) {
      base::Random random(static_cast<std::uint64_t>(number));
      std::int64_t token = below(random, shape.vocabulary);
      for (std::int64_t i = 0; i < shape.context; ++i) {
        inputs.push_back(token);
        token = below(random, shape.vocabulary);
        targets.push_back(token);
      }
    }
    return {owned_tensor(std::move(inputs), {count, shape.context}),
            owned_tensor(std::move(targets), {count, shape.context})};
  }

  static std::int64_t below(base::Random& random, std::int64_t bound) {
    return static_cast<std::int64_t>(random.below(static_cast<std::uint64_t>(bound)));
  }

  const InputKind kind_;
  mutable std::mutex mutex_;
  // For pictures of the size that was asked for last. Guarded by mutex_.
  mutable std::shared_ptr<const std::vector<float>> noise_;
};

}  // namespace

std::unique_ptr<DataSet> make_synthetic(InputKind kind) {
  return std::make_unique<SyntheticSet>(kind);
}

}  // namespace lowtide::zoo
