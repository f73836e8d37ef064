// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "lowtide/ids.h"
#include "lowtide/simulate.h"
#include "sim/links.h"

namespace lowtide::sim {

// The two clocks of a step and why the device stood still. The host issues one thing after
// another and runs ahead of the device as far as it likes; the device starts a thing when the host
// has issued it, the thing before has ended, and what it waits for has come. Copies are issued by
// the host too, and start when the device has come to where they were issued.
//
// Writes seconds, stalls and stall_seconds of the timeline.
class Clocks {
 public:
  Clocks(Links& links, Timeline& timeline) : links_(links), timeline_(timeline) {}

  double device_seconds() const { return device_; }
  // Stalls from here on belong to this op.
  void begin_tick(OpId op) { op_ = op; }

  // The host is busy with something that the device does not take part in.
  void work_on_host(double seconds) { host_ += seconds; }
  // The host issues a copy, or work for its own processor; the time at which that can start.
  double issue(double issue_seconds);
  // The next work on the device does not start before the copy has ended.
  void wait_for(Links::CopyId copy, ValueId value);
  // The host issues work for the device; the device is ready to start it.
  void start_work(double issue_seconds);
  // The device waits for all that wait_for() named.
  void settle();
  void stall_until(double seconds, StallCause cause, ValueId value);
  void work(double seconds);

 private:
  struct Wait {
    Links::CopyId copy;
    ValueId value;
  };

  Links& links_;
  Timeline& timeline_;
  OpId op_;
  double host_ = 0;
  double device_ = 0;
  std::vector<Wait> waits_;
};

}  // namespace lowtide::sim
