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
      batches_(std::move(batches)) {
  if (reads_ahead_) thread_ = std::thread([this] { read_on(); });
}

BatchReader::~BatchReader() {
  if (!reads_ahead_) return;
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  changed_.notify_one();
  thread_.join();
}

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

void BatchReader::start(std::int64_t step) {
  // One that is still being read for another step is of no use, but there is one thread.
  if (next_.valid()) next_.wait();
  next_step_ = step;
  Reading reading([this, numbers = batches_.at(step)] {
    return data_->batch(zoo::Part::kTraining, numbers, shape_);
  });
  next_ = reading.get_future();
  {
    const std::lock_guard lock(mutex_);
    reading_ = std::move(reading);
  }
  changed_.notify_one();
}

void BatchReader::read_on() {
  for (;;) {
    Reading reading;
    {
      std::unique_lock lock(mutex_);
      changed_.wait(lock, [this] { return is_over_ || reading_.valid(); });
      if (is_over_) return;
      reading = std::exchange(reading_, {});
    }
    reading();
  }
}

}  // namespace lowtide::train
