// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
//
// What the books tell a user whose budget cannot be kept.
#include <algorithm>

#include "base/bytes.h"
#include "base/check.h"
#include "run/torch/books.h"
#include "run/torch/current_op.h"

namespace lowtide::run {

std::vector<const Value*> Books::resident_values(Lock&) const {
  std::vector<const Value*> resident;
  for (const auto& [impl, cell] : cells_) {
    if (cell->value->is_resident()) resident.push_back(cell->value.get());
  }
  return resident;
}

// What can be of no help to anybody, however small the model is.
std::string Books::describe_outside(Lock& lock) const {
  const std::int64_t held = device_.ledger().held_bytes();
  std::int64_t outside = held;
  for (const Value* value : resident_values(lock)) outside -= device_.rounded(value->bytes);
  if (2 * outside < held) return "";
  return base::concat(" Of what is held, ", base::format_bytes(outside),
                      " are not in tensors that were seen here: workspaces of libraries, or taken "
                      "before the session began.");
}

std::string Books::largest_holders(Lock& lock) const {
  std::vector<const Value*> resident = resident_values(lock);
  const std::size_t count = std::min<std::size_t>(5, resident.size());
  std::partial_sort(resident.begin(), resident.begin() + static_cast<std::ptrdiff_t>(count),
                    resident.end(),
                    [](const Value* a, const Value* b) { return a->bytes > b->bytes; });
  std::string text;
  for (std::size_t i = 0; i < count; ++i) {
    const Value& value = *resident[i];
    text += base::concat(i == 0 ? "" : ", ", base::format_bytes(value.bytes), " ",
                         value.producer ? "made by " + value.producer->handle.schema().name()
                                        : std::string("that cannot be recomputed"),
                         value.pins > 0 ? " (in use)" : "");
  }
  return text;
}

std::string Books::describe_shortage(std::int64_t asked_bytes) {
  Lock lock(*this);
  const std::string holders = largest_holders(lock);
  return base::concat(
      current_op().empty() ? "" : " Asked by " + current_op() + ".",
      holders.empty() ? "" : " The largest holders: " + holders + ".", describe_outside(lock),
      " This op needs a budget of at least ",
      base::format_bytes(device_.ledger().held_bytes() + asked_bytes),
      rules.may_move ? "" : "; with host memory allowed (Means::kMixed) a smaller one may do", ".");
}

}  // namespace lowtide::run
