// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <unordered_map>
#include <vector>

#include "lowtide/ids.h"
#include "lowtide/simulate.h"
#include "sim/allocator_model.h"

namespace lowtide::sim {

// Bytes that lay on the device in one piece. An op in place writes to the piece that is there.
struct Stay {
  // Not valid for the workspace of an op, and for scratch copies of a replay.
  StorageId storage{};
  StorageKind kind = StorageKind::kTemporary;
  std::int64_t bytes = 0;
  // In whose tick it came and went; for what outlives the step, the end of the step.
  OpId from{};
  OpId to{};
  double start_seconds = 0;
  double end_seconds = 0;
};

// What the device was busy with.
struct Work {
  enum class Kind : std::uint8_t { kOp, kReplay, kCodec };
  Kind kind = Kind::kOp;
  OpId op;
  // In whose tick; the same as `op` unless it is a replay.
  OpId tick;
  double start_seconds = 0;
  double end_seconds = 0;
};

// A copy through one direction of the link to a tier.
struct Copy {
  ValueId value;
  TierId tier;
  bool to_tier = true;
  std::int64_t bytes = 0;
  double start_seconds = 0;
  double end_seconds = 0;
};

// What a timeline only has in sum: for reports and exports. Works are in order of time, copies in
// that of their issue, stays in that of their end.
struct StepLog {
  std::vector<Stay> stays;
  std::vector<Work> works;
  std::vector<Copy> copies;
};

// As simulate(), and writes the log.
Timeline simulate_logged(const Problem& problem, const Plan& plan, StepLog& log);

// Writes the stays of a log down as blocks come and go.
class StayWriter {
 public:
  explicit StayWriter(std::vector<Stay>& stays) : stays_(stays) {}
  // A block of no bytes is none.
  void open(AllocatorModel::Handle block, const Stay& stay);
  void close(AllocatorModel::Handle block, OpId op, double seconds);
  void close_all(OpId op, double seconds);

 private:
  std::vector<Stay>& stays_;
  std::unordered_map<AllocatorModel::Handle, Stay> open_;
};

}  // namespace lowtide::sim
