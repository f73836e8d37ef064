// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "train/named_tensor.h"

// Whether two trainings did the same, bit for bit. What is kept of a state is a digest of each
// tensor, since a state may be large and there is one for every step.

namespace lowtide::train {

struct TensorDigest {
  std::string name;
  std::uint64_t digest = 0;

  bool operator==(const TensorDigest&) const = default;
};
using StateDigest = std::vector<TensorDigest>;

// `session`: as for with_bytes().
StateDigest digest_of(const State& state, Session* session);

// The name of the first tensor that is not the same in both, or is in one of them only.
std::optional<std::string> first_differing(const StateDigest& wanted, const StateDigest& got);

// Where two tensors differ first.
struct ElementDifference {
  // Counted in logical order; the elements as text, exact.
  std::int64_t element = 0;
  std::string wanted;
  std::string got;
};

// By their bits: a NaN is like itself, and 0 is not like -0. Requires: the same shape and type,
// both in host memory.
std::optional<ElementDifference> first_differing_element(const at::Tensor& wanted,
                                                         const at::Tensor& got);

}  // namespace lowtide::train
