// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "lowtide/trace.h"
#include "run/engine/guided_step.h"
#include "run/torch/books.h"
#include "run/torch/eviction_log.h"
#include "run/torch/op_timer.h"

namespace lowtide::run {

// Writes down what the ops of one step do, and makes a Trace of it. Calls come from the threads
// that run the ops, under the books' lock.
class Capture final : public BurialObserver {
 public:
  // What one op did. Storages are numbered in the order in which they were first seen.
  struct OpEvent {
    std::string name;
    std::vector<StorageUse> reads;
    std::vector<StorageUse> writes;
    std::vector<StorageId> views;
    std::vector<StorageId> frees;
    // All storages among its arguments, in their order, and those it made.
    std::vector<StorageId> arguments;
    std::vector<StorageId> results;
    std::uint64_t signature = 0;
    std::int64_t workspace_bytes = 0;
    // See autograd_phase.h.
    std::uint64_t node = 0;
    bool is_backward = false;
    bool is_replayable = false;
    bool is_random = false;
  };

  // The storage among those of the step; one that is first seen as an argument was there before.
  StorageId used(const Cell& cell, bool is_parameter);
  StorageId made(const Cell& cell);
  void add(OpEvent event);
  // How long the program took from the end of the op before to this one's start; 0 for the first.
  using Clock = std::chrono::steady_clock;
  double seconds_until(Clock::time_point start) const;
  void op_ended() { last_end_ = Clock::now(); }
  void on_buried(const Cell& cell) override;
  // What hears, as a witness, of what is done with the storages meanwhile.
  EvictionLog& log() { return log_; }
  // What it heard, of the storages of trace().
  std::vector<plan::OnlineDeed> deeds() const { return log_.deeds(storages_.size()); }

  // The step as it was captured, once the device has carried it out: the timer's times are waited
  // for. Throws InvalidInput if nothing was captured.
  Trace trace(const std::string& name, OpTimer& timer) const;
  // By what its ops are known again.
  engine::StepScript script() const;

 private:
  struct StorageEvent {
    std::int64_t bytes = 0;
    bool is_parameter = false;
    bool at_start = false;
    bool is_alive = true;
    Label label{};
  };
  // One that was there before, and died in the step without being used.
  struct UnusedStorage {
    std::int64_t bytes = 0;
    std::size_t freed_by = 0;
  };
  StorageId number_of(const Cell& cell, bool at_start);
  void add_storages(TraceBuilder& builder, const std::vector<StorageKind>& kind_of) const;
  std::vector<std::vector<StorageId>> add_unused(TraceBuilder& builder) const;
  std::vector<Phase> phases() const;
  std::vector<std::string> storage_layers() const;
  std::vector<StorageKind> kinds(const std::vector<Phase>& phases) const;

  std::vector<OpEvent> ops_;
  std::vector<StorageEvent> storages_;
  std::vector<UnusedStorage> unused_;
  std::unordered_map<const Cell*, StorageId> numbers_;
  Clock::time_point last_end_{};
  EvictionLog log_;
};

}  // namespace lowtide::run
