// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "zoo/synthetic_set.h"

#include <utility>
#include <vector>

#include <ATen/ATen.h>

#include "base/random.h"
#include "zoo/owned_tensor.h"

namespace lowtide::zoo {
namespace {

// What ImageNet has, rounded: an epoch of benchmarks takes its time.
constexpr std::int64_t kExamples = 1'000'000;

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
  static Batch pictures(std::span<const std::int64_t> numbers, const InputShape& shape) {
    const auto count = static_cast<std::int64_t>(numbers.size());
    const std::int64_t points = shape.size * shape.size;
    const std::int64_t targets_each = shape.is_dense ? points : 1;
    std::vector<float> inputs;
    std::vector<std::int64_t> targets;
    inputs.reserve(static_cast<std::size_t>(count * shape.channels * points));
    for (const std::int64_t number : numbers) {
      base::Random random(static_cast<std::uint64_t>(number));
      for (std::int64_t i = 0; i < targets_each; ++i) {
        targets.push_back(below(random, shape.classes));
      }
      for (std::int64_t i = 0; i < shape.channels * points; ++i) {
        inputs.push_back(static_cast<float>(random.uniform()));
      }
    }
    const std::vector<std::int64_t> target_sizes =
        shape.is_dense ? std::vector{count, shape.size, shape.size} : std::vector{count};
    // A copy, so that pictures count towards a budget as others do.
    return {
        owned_tensor(std::move(inputs), {count, shape.channels, shape.size, shape.size}).clone(),
        owned_tensor(std::move(targets), target_sizes)};
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
};

}  // namespace

std::unique_ptr<DataSet> make_synthetic(InputKind kind) {
  return std::make_unique<SyntheticSet>(kind);
}

}  // namespace lowtide::zoo
