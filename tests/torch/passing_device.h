// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <string>

#include "run/engine/device.h"

namespace lowtide::torch_test {

// A device that passes everything on to another, for tests that change some of it.
class PassingDevice : public engine::Device {
 public:
  explicit PassingDevice(engine::Device& base) : base_(base) {}

  std::string name() const override { return base_.name(); }
  engine::Ledger& ledger() override { return base_.ledger(); }
  void* current_stream() const override { return base_.current_stream(); }
  void install() override { base_.install(); }
  void remove() override { base_.remove(); }
  void limit(std::optional<std::int64_t> budget_bytes) override { base_.limit(budget_bytes); }
  bool reserves() const override { return base_.reserves(); }
  std::int64_t stitches() const override { return base_.stitches(); }
  std::int64_t reserved_peak_bytes() const override { return base_.reserved_peak_bytes(); }
  void reset_reserved_peak() override { base_.reset_reserved_peak(); }
  void end_step() override { base_.end_step(); }
  bool is_native_deleter(void (*deleter)(void*)) const override {
    return base_.is_native_deleter(deleter);
  }
  bool is_gate_deleter(void (*deleter)(void*)) const override {
    return base_.is_gate_deleter(deleter);
  }
  void (*gate_deleter() const)(void*) override { return base_.gate_deleter(); }
  std::int64_t rounded(std::int64_t bytes) const override { return base_.rounded(bytes); }
  bool counts_earlier_blocks() const override { return base_.counts_earlier_blocks(); }
  engine::Overflow& overflow() override { return base_.overflow(); }
  void keep_as_host_copy(void* data) override { base_.keep_as_host_copy(data); }
  void* allocate_host(std::int64_t bytes) override { return base_.allocate_host(bytes); }
  void free_host(void* host) override { base_.free_host(host); }
  void reserve_host(std::int64_t bytes) override { base_.reserve_host(bytes); }
  void set_host_cap(std::int64_t bytes) override { base_.set_host_cap(bytes); }
  std::int64_t host_held_bytes() const override { return base_.host_held_bytes(); }
  std::int64_t host_peak_bytes() const override { return base_.host_peak_bytes(); }
  bool is_host_written(const void* host) override { return base_.is_host_written(host); }
  void wait_for_host(const void* host) override { base_.wait_for_host(host); }
  void wait_for_freed_host() override { base_.wait_for_freed_host(); }

  bool is_its_own_host() const override { return base_.is_its_own_host(); }
  void start_copy_out(void* host, const void* block, std::int64_t bytes,
                      std::uint64_t last_use) override {
    base_.start_copy_out(host, block, bytes, last_use);
  }
  void start_copy_in(void* block, void* host, std::int64_t bytes) override {
    base_.start_copy_in(block, host, bytes);
  }
  void finish_copy(const void* block, void* stream) override { base_.finish_copy(block, stream); }
  void copy_within(void* to, const void* from, std::int64_t bytes) override {
    base_.copy_within(to, from, bytes);
  }

  void tick(std::uint64_t op) override { base_.tick(op); }
  void pace() override { base_.pace(); }
  void stop_pacing() override { base_.stop_pacing(); }
  bool is_paced() override { return base_.is_paced(); }
  int start_timing() override { return base_.start_timing(); }
  void stop_timing(int timing) override { base_.stop_timing(timing); }
  std::optional<double> read_timing(int timing) override { return base_.read_timing(timing); }
  double copy_out_seconds(std::int64_t bytes) const override {
    return base_.copy_out_seconds(bytes);
  }
  double copy_in_seconds(std::int64_t bytes) const override { return base_.copy_in_seconds(bytes); }
  double memory_seconds(std::int64_t bytes) const override { return base_.memory_seconds(bytes); }

 private:
  engine::Device& base_;
};

}  // namespace lowtide::torch_test
