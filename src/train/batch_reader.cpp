// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "train/batch_reader.h"

#include <utility>

namespace lowtide::train {

BatchReader::BatchReader(std::shared_ptr<const zoo::DataSet> data, const zoo::InputShape& shape,
                         zoo::Batches batches, bool reads_ahead)
    : data_(std::move(data)),
      shape_(shape),
      reads_ahead_(reads_ahead),
      batches_(std::move(batches)) {}

zoo::Batch BatchReader::take(std::int64_t step) {
  if (!reads_ahead_) return data_->batch(zoo::Part::kTraining, batches_.at(step), shape_);
  if (!next_.valid() || next_step_ != step) start(step);
  zoo::Batch batch = next_.get();
  start(step + 1);
  return batch;
}

void BatchReader::wait_for(std::int64_t step) {
  if (!reads_ahead_) return;
  if (!next_.valid() || next_step_ != step) start(step);
  next_.wait();
}

// One that is still being read for another step is waited for when it is replaced.
void BatchReader::start(std::int64_t step) {
  next_step_ = step;
  next_ = std::async(std::launch::async, [this, numbers = batches_.at(step)] {
    return data_->batch(zoo::Part::kTraining, numbers, shape_);
  });
}

}  // namespace lowtide::train
