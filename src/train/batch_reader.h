// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <condition_variable>
#include <cstdint>
#include <future>
#include <memory>
#include <mutex>
#include <span>
#include <thread>

#include "zoo/batches.h"
#include "zoo/data_set.h"

namespace lowtide::train {

// How the batches of a training are read: when they are asked for; or each while the step before it
// is under way, in a thread of its own, also into memory that a GPU copies from by itself.
enum class Reading : std::uint8_t { kWhenAsked, kAhead, kAheadAndPinned };

// The batches of a training, on the CPU.
class BatchReader {
 public:
  BatchReader(std::shared_ptr<const zoo::DataSet> data, const zoo::InputShape& shape,
              zoo::Batches batches, Reading reading);
  ~BatchReader();
  BatchReader(const BatchReader&) = delete;
  BatchReader& operator=(const BatchReader&) = delete;

  std::int64_t steps_an_epoch() const { return batches_.steps_an_epoch(); }
  // What the step is to learn from. Throws what the data does.
  zoo::Batch take(std::int64_t step);
  // Until the batch of this step is there, if it is read ahead: for those who time a step.
  void wait_for(std::int64_t step);

 private:
  using Task = std::packaged_task<zoo::Batch()>;

  bool reads_ahead() const { return reading_ != Reading::kWhenAsked; }
  zoo::Batch read(std::span<const std::int64_t> numbers) const;
  void start(std::int64_t step);
  void read_on();

  const std::shared_ptr<const zoo::DataSet> data_;
  const zoo::InputShape shape_;
  const Reading reading_;
  zoo::Batches batches_;
  // What is being read, and for which step.
  std::future<zoo::Batch> next_;
  std::int64_t next_step_ = -1;

  std::mutex mutex_;
  std::condition_variable changed_;
  // Guarded by mutex_. To be read next; not valid: nothing is.
  Task task_;
  bool is_over_ = false;
  // One for all batches: torch starts threads to compute with for every thread that it meets.
  std::thread thread_;
};

}  // namespace lowtide::train
