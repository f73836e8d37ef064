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

std::string Books::largest_holders(Lock&) const {
  std::vector<const Value*> resident;
  for (const auto& [impl, cell] : cells_) {
    if (cell->value->is_resident()) resident.push_back(cell->value.get());
  }
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
      holders.empty() ? "" : " The largest holders: " + holders + ".",
      " This op needs a budget of at least ",
      base::format_bytes(device_.ledger().held_bytes() + asked_bytes),
      rules.may_move ? "" : "; with host memory allowed (Means::kMixed) a smaller one may do", ".");
}

}  // namespace lowtide::run
