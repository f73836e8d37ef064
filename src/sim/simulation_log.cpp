// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "sim/simulation.h"

// Where what happens is written down, if someone wants to know.

namespace lowtide::sim {

void Simulation::write_log(StepLog& log) {
  log_ = &log;
  stays_.emplace(log.stays);
}

Piece Simulation::allocate(std::int64_t bytes, StorageKind kind, StorageId storage) {
  const Piece piece = memory_.allocate(bytes, kind);
  if (stays_) {
    stays_->open(piece.block, {.storage = storage,
                               .kind = kind,
                               .bytes = bytes,
                               .from = op_.valid() ? op_ : OpId{0},
                               .start_seconds = clocks_.device_seconds()});
  }
  return piece;
}

void Simulation::free(Piece& piece) {
  if (stays_) stays_->close(piece.block, op_, clocks_.device_seconds());
  memory_.free(piece);
}

void Simulation::log_work(Work::Kind kind, OpId op, double seconds) {
  if (log_ == nullptr) return;
  const double now = clocks_.device_seconds();
  log_->works.push_back(
      {.kind = kind, .op = op, .tick = op_, .start_seconds = now - seconds, .end_seconds = now});
}

void Simulation::log_copies() {
  stays_->close_all(op_, timeline_.seconds);
  for (std::size_t i = 0; i < links_.copies(); ++i) {
    const Links::Span span = links_.span_of(static_cast<Links::CopyId>(i));
    if (!span.tier.valid()) continue;
    log_->copies.push_back({.value = notes_[i].value,
                            .tier = span.tier,
                            .to_tier = span.to_tier,
                            .bytes = span.bytes,
                            .start_seconds = span.start_seconds,
                            .end_seconds = span.end_seconds});
  }
}

}  // namespace lowtide::sim
