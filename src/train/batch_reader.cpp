// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "train/batch_reader.h"

#include <utility>

#include <ATen/ATen.h>

namespace lowtide::train {

BatchReader::BatchReader(std::shared_ptr<const zoo::DataSet> data, const zoo::InputShape& shape,
                         zoo::Batches batches, Reading reading)
    : data_(std::move(data)), shape_(shape), reading_(reading), batches_(std::move(batches)) {
  if (reads_ahead()) thread_ = std::thread([this] { read_on(); });
}

BatchReader::~BatchReader() {
  if (!reads_ahead()) return;
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

zoo::Batch BatchReader::read(std::span<const std::int64_t> numbers) const {
  zoo::Batch batch = data_->batch(zoo::Part::kTraining, numbers, shape_);
  if (reading_ != Reading::kAheadAndPinned) return batch;
  return {batch.inputs.pin_memory(), batch.targets.pin_memory()};
}

zoo::Batch BatchReader::take(std::int64_t step) {
  if (!reads_ahead()) return read(batches_.at(step));
  if (!next_.valid() || next_step_ != step) start(step);
  zoo::Batch batch = next_.get();
  start(step + 1);
  return batch;
}

void BatchReader::wait_for(std::int64_t step) {
  if (!reads_ahead()) return;
  if (!next_.valid() || next_step_ != step) start(step);
  next_.wait();
}

void BatchReader::start(std::int64_t step) {
  // One that is still being read for another step is of no use, but there is one thread.
  if (next_.valid()) next_.wait();
  next_step_ = step;
  Task task([this, numbers = batches_.at(step)] { return read(numbers); });
  next_ = task.get_future();
  {
    const std::lock_guard lock(mutex_);
    task_ = std::move(task);
  }
  changed_.notify_one();
}

void BatchReader::read_on() {
  for (;;) {
    Task task;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return is_over_ || task_.valid(); });
      if (is_over_) return;
      task = std::exchange(task_, {});
    }
    task();
  }
}

}  // namespace lowtide::train
