// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "run/torch/dependents.h"

#include <utility>

namespace lowtide::run {

Dependents::Dependents(const std::vector<ValueP>& going) {
  for (const ValueP& value : going) going_.insert(value.get());
}

void Dependents::clear() {
  alive.clear();
  lost.clear();
  open_.clear();
}

void Dependents::look_from(const ValueP& value) {
  open_.push_back(value);
  while (!open_.empty()) {
    const ValueP current = std::move(open_.back());
    open_.pop_back();
    for (const std::weak_ptr<Record>& weak : current->readers) {
      if (const RecordP reader = weak.lock()) visit_results(*reader);
    }
  }
}

void Dependents::visit_results(const Record& reader) {
  for (const std::weak_ptr<Value>& output : reader.outputs) visit(output.lock());
  for (const auto& [ref, written] : reader.written) visit(written.lock());
}

void Dependents::visit(ValueP value) {
  if (!value || value->is_source() || !seen_.insert(value.get()).second) return;
  if (value->is_ghost()) {
    lost.push_back(value);
    open_.push_back(std::move(value));
  } else {
    alive.push_back(value);
    // It becomes a source, but for no longer than until the op writes it too.
    if (going_.contains(value.get())) open_.push_back(std::move(value));
  }
}

}  // namespace lowtide::run
