// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>

#include "lowtide/plan.h"

namespace lowtide::plan {

// Finds what the words of a plan file name. Every function throws InvalidInput, saying what it
// looked for. Lives no longer than the problem it was made from.
class NameTable {
 public:
  explicit NameTable(const Problem& problem);

  const Problem& problem() const { return problem_; }
  StorageId storage(std::string_view name) const;
  // "storage.version".
  ValueId value(std::string_view name) const;
  TierId tier(std::string_view name) const;
  // The index of an op, or `end`.
  OpId position(std::string_view word) const;
  std::int32_t implementation(OpId op, std::string_view name) const;

 private:
  const Problem& problem_;
  std::unordered_map<std::string_view, StorageId> storages_;
};

// Throws InvalidInput unless a file with this digest belongs to the trace.
void require_digest(std::string_view found, const Trace& trace);

// Throws InvalidInput if the plan holds something that a file cannot say: names and positions that
// do not exist, or a word with blanks.
void require_printable(const Plan& plan, const Problem& problem);

}  // namespace lowtide::plan
