// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "zoo/synthetic_set.h"

#include <ATen/ATen.h>

#include "base/random.h"

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
    const at::Tensor inputs = at::empty({count, shape.channels, shape.size, shape.size});
    const std::int64_t points = shape.size * shape.size;
    const at::Tensor targets = shape.is_dense
                                   ? at::empty({count, shape.size, shape.size}, at::kLong)
                                   : at::empty({count}, at::kLong);
    const std::int64_t targets_each = shape.is_dense ? points : 1;
    auto* input = inputs.mutable_data_ptr<float>();
    auto* target = targets.mutable_data_ptr<std::int64_t>();
    for (const std::int64_t number : numbers) {
      base::Random random(static_cast<std::uint64_t>(number));
      for (std::int64_t i = 0; i < targets_each; ++i) *target++ = below(random, shape.classes);
      for (std::int64_t i = 0; i < shape.channels * points; ++i) {
        *input++ = static_cast<float>(random.uniform());
      }
    }
    return {inputs, targets};
  }

  static Batch tokens(std::span<const std::int64_t> numbers, const InputShape& shape) {
    const auto count = static_cast<std::int64_t>(numbers.size());
    const at::Tensor inputs = at::empty({count, shape.context}, at::kLong);
    const at::Tensor targets = at::empty({count, shape.context}, at::kLong);
    auto* input = inputs.mutable_data_ptr<std::int64_t>();
    auto* target = targets.mutable_data_ptr<std::int64_t>();
    for (const std::int64_t number : numbers) {
      base::Random random(static_cast<std::uint64_t>(number));
      std::int64_t token = below(random, shape.vocabulary);
      for (std::int64_t i = 0; i < shape.context; ++i) {
        *input++ = token;
        token = below(random, shape.vocabulary);
        *target++ = token;
      }
    }
    return {inputs, targets};
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
