// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "run/engine/host_memory.h"
#include "run/engine/ledger.h"

namespace lowtide::engine {

// What the runtime needs of a device: its ledger, blocks, copies, host memory and time. Everything
// is in the order of the calling thread's current stream; nothing here makes the host wait. On the
// CPU the stream is the thread itself.
class Device : public HostMemory {
 public:
  virtual std::string name() const = 0;
  virtual Ledger& ledger() = 0;

  // The stream that the calling thread issues work to; compares with Block::stream. A block that is
  // used on another stream than its own must be marked shared_between_streams and stay.
  virtual void* current_stream() const { return nullptr; }

  // The gate: from install() to remove(), allocations on the device pass it. Blocks that were
  // handed out outlive the gate. May be called again after remove().
  virtual void install() = 0;
  virtual void remove() = 0;
  // Tells the device's own allocator of the cap, where it has such a thing. No value: lifts it.
  virtual void limit(std::optional<std::int64_t> budget_bytes) = 0;

  // Whether some of the budget cannot be used, because the device's own allocator takes memory in
  // larger pieces than it hands out.
  virtual bool reserves() const { return false; }
  // What the device's own allocator took for its blocks at most; 0 where that is no other number.
  virtual std::int64_t reserved_peak_bytes() const { return 0; }
  virtual void reset_reserved_peak() {}

  // How often free memory that was in pieces was put together anew.
  virtual std::int64_t stitches() const { return 0; }

  // A step is over: the device may draw its conclusions.
  virtual void end_step() {}

  // Makes a block ours that the device's own allocator handed out; false if it is not such a block.
  // `deleter` is that of the DataPtr, given as an opaque function address.
  virtual bool is_native_deleter(void (*deleter)(void*)) const = 0;
  virtual bool is_gate_deleter(void (*deleter)(void*)) const = 0;
  virtual void (*gate_deleter() const)(void*) = 0;
  // How the device rounds a request of this many bytes: what counts against the cap.
  virtual std::int64_t rounded(std::int64_t bytes) const = 0;
  // Whether blocks of before install() are counted in the ledger already.
  virtual bool counts_earlier_blocks() const = 0;

  // Host memory outside of the cap that the device's work can use in place; see Ledger.
  virtual Overflow& overflow() = 0;
  // A block of overflow() becomes host memory as if it came from allocate_host() and was copied
  // there, and is the ledger's no more.
  virtual void keep_as_host_copy(void* data) = 0;

  // Whether the host computes by itself: then starting a copy is carrying it out, and nothing is
  // computed while the host is between two ops.
  virtual bool is_its_own_host() const { return false; }
  // Copies go on beside what is computed, until finish_copy(): before that the block may not be
  // freed, nor used if it is copied to. `last_use` is the tick (see tick()) of the last op that
  // used the block. Both throw DeviceError, having changed nothing.
  virtual void start_copy_out(void* host, const void* block, std::int64_t bytes,
                              std::uint64_t last_use) = 0;
  // Host memory may be freed right after.
  virtual void start_copy_in(void* block, void* host, std::int64_t bytes) = 0;
  // What is issued to `stream` (see current_stream()) from here on comes after the block's copy.
  virtual void finish_copy(const void* block, void* stream) = 0;
  // From block to block.
  virtual void copy_within(void* to, const void* from, std::int64_t bytes) = 0;

  // The op with this number was issued to the current stream. Ticks grow.
  virtual void tick(std::uint64_t op) = 0;

  // Time of what is issued between start and stop. A reading comes later, when the device got
  // there.
  virtual int start_timing() = 0;
  virtual void stop_timing(int timing) = 0;
  // Seconds, and the timing is free again; nothing while the device has not come so far.
  virtual std::optional<double> read_timing(int timing) = 0;

  // To be called before each op while ops are timed one by one: a device that is faster than its
  // host lets work pile up first, so that no timing contains a wait for the host.
  virtual void pace() {}
  virtual void stop_pacing() {}
  // Whether a timing that ends here holds no waits for the host.
  virtual bool is_paced() { return true; }

  // What copies and unmeasured ops are taken to cost.
  virtual double copy_out_seconds(std::int64_t bytes) const = 0;
  virtual double copy_in_seconds(std::int64_t bytes) const = 0;
  virtual double memory_seconds(std::int64_t bytes) const = 0;
};

}  // namespace lowtide::engine
