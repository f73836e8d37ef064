// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <map>
#include <optional>

namespace lowtide::policy {

// One direction of a link as a row of busy times, in which planned copies get slots.
class CopyLane {
 public:
  struct Slot {
    double start = 0;
    double end = 0;
  };

  // The earliest free slot of that length that starts at `from` or later.
  Slot earliest(double from, double length) const;
  // The latest free slot of that length that ends by `by`; it starts no earlier than 0 if it can.
  Slot latest(double by, double length) const;
  // The same, looking past so many busy stretches at most; nothing if it is not found by then.
  std::optional<Slot> latest_nearby(double by, double length, std::size_t stretches) const;

  // Requires: the slot is free.
  void take(Slot slot);

 private:
  // Start of each busy stretch and its end; stretches that touch are one.
  std::map<double, double> busy_;
};

}  // namespace lowtide::policy
