// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>

#include <ATen/core/Tensor.h>

#include "zoo/model.h"

// What models are trained on. Examples have numbers, and an example is the same whenever it is
// asked for. The data lies outside torch's allocator: only the batches count towards a budget.

namespace lowtide::zoo {

enum class Part { kTraining, kEvaluation };

// A target that does not count, as torch's losses have it.
inline constexpr std::int64_t kNoTarget = -100;

// On the CPU, in the shapes that `Model` says.
struct Batch {
  at::Tensor inputs;
  at::Tensor targets;
};

class DataSet {
 public:
  virtual ~DataSet() = default;
  virtual InputKind kind() const = 0;
  // How many classes pictures have, how many different tokens a text; 0: as many as a model asks
  // for.
  virtual std::int64_t classes() const = 0;
  // How many examples there are for models of this shape; 0 of those for evaluation: there are
  // none.
  virtual std::int64_t size(Part part, const InputShape& shape) const = 0;
  // These examples as a model of this shape takes them. Requires: every number is below size().
  virtual Batch batch(Part part, std::span<const std::int64_t> numbers,
                      const InputShape& shape) const = 0;
};

// What --data names:
//   fashion-mnist        the 10,000 pictures that are linked in, 8,000 of them to train on
//   fashion-mnist-full   all 70,000, as Debian's package dataset-fashion-mnist installs them
//   tiny-shakespeare     the text that is linked in
//   synthetic            random pictures or tokens, as many as wanted
//   a folder             of IDX files with the names that MNIST has
//   a file               of plain text, gzipped or not
// Throws InvalidInput for what is none of that or is damaged, IoError for what cannot be read.
std::unique_ptr<DataSet> open_data(const std::string& name, InputKind kind);

}  // namespace lowtide::zoo
