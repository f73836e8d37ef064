// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "report/study.h"

namespace lowtide::report {

// What lay on the device at the fullest moment of a step.
struct Peak {
  // One piece of memory; those of no storage are the workspace of the op.
  struct Item {
    StorageId storage;
    StorageKind kind = StorageKind::kTemporary;
    std::string place;
    std::int64_t bytes = 0;
  };
  // Pieces of one kind from one place of the model: a layer, or a block if there are many layers.
  struct Group {
    std::string place;
    StorageKind kind = StorageKind::kTemporary;
    std::size_t items = 0;
    std::int64_t bytes = 0;
  };

  // So many groups are shown at first; they say most.
  static constexpr std::size_t kTellingGroups = 12;

  OpId op;
  // What ran: the op itself, or one that was replayed for it.
  OpId running;
  double seconds = 0;
  std::int64_t bytes = 0;
  // The largest first, both.
  std::vector<Item> items;
  std::vector<Group> groups;

  std::int64_t of(StorageKind kind) const;
};

Peak explain_peak(const SimulatedStep& step);

}  // namespace lowtide::report
