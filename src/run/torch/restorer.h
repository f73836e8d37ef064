// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <mutex>
#include <vector>

#include "run/torch/books.h"

namespace lowtide::run {

// Brings values back: from the host, or by carrying out recorded ops again. Only between ops, never
// inside an allocation. Any thread; one at a time.
class Restorer {
 public:
  explicit Restorer(Books& books) : books_(books) {}

  // Gives the value its bytes. Requires: the caller has pinned it, and holds no lock. Throws
  // OutOfMemory; then the value is as before.
  void restore(const ValueP& value);

  // These values are about to be overwritten. Whatever would be computed from them is brought back
  // first, and is a source from then on.
  void settle(const std::vector<ValueP>& values);

  // What outlives the step becomes a source: brought back where it has no bytes, and no longer tied
  // to the ops that made it.
  void end_step();

 private:
  struct Frame;
  class Turn;

  void bring_back(const ValueP& value);
  bool give_up_records();
  void wait_for_file(const ValueP& value);
  void fetch(const ValueP& value);
  bool advance(std::vector<Frame>& frames);
  void release(std::vector<Frame>& frames);
  void let_go(Frame& frame);
  bool has_copy(const ValueP& value);
  std::vector<std::weak_ptr<Value>> dropped_survivors(Books::Lock& lock);
  // Those that outlive the step and have no bytes are brought back. False: there were none, and the
  // step has ended.
  bool bring_back_survivors();
  void bring_back_survivor(const std::weak_ptr<Value>& survivor);
  void forget_how_values_were_made(Books::Lock& lock);

  Books& books_;
  // Two threads that need the same value must not both compute it.
  std::recursive_mutex turn_;
};

// Whether a record that is still there would need the value for a replay.
bool has_readers(const Value& value);

// The record keeps a value for its replays.
void add_reader(Value& value, const RecordP& record);

}  // namespace lowtide::run
