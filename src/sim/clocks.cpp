// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "sim/clocks.h"

#include <algorithm>

namespace lowtide::sim {

double Clocks::issue(double issue_seconds) {
  host_ += issue_seconds;
  return std::max(host_, device_);
}

void Clocks::wait_for(Links::CopyId copy, ValueId value) {
  if (copy != Links::kNone) waits_.push_back({copy, value});
}

void Clocks::start_work(double issue_seconds) {
  host_ += issue_seconds;
  if (host_ > device_) {
    timeline_.stall_seconds[static_cast<std::size_t>(StallCause::kHost)] += host_ - device_;
    device_ = host_;
  }
  // What came while the host was busy anyway costs nothing, so the host comes first.
  settle();
}

void Clocks::settle() {
  for (const Wait& wait : waits_) {
    stall_until(links_.finish_time(wait.copy), StallCause::kFetch, wait.value);
  }
  waits_.clear();
  links_.advance_to(device_);
}

void Clocks::stall_until(double seconds, StallCause cause, ValueId value) {
  if (seconds <= device_) return;
  const double stall = seconds - device_;
  timeline_.stalls.push_back({.cause = cause, .op = op_, .value = value, .seconds = stall});
  timeline_.stall_seconds[static_cast<std::size_t>(cause)] += stall;
  device_ = seconds;
  links_.advance_to(device_);
}

void Clocks::work(double seconds) {
  device_ += seconds;
  links_.advance_to(device_);
}

}  // namespace lowtide::sim
