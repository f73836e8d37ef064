// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "lowtide/trace.h"

#include <array>

namespace lowtide {
namespace {

constexpr std::array<std::string_view, 4> kPhaseNames{"forward", "backward", "optimizer", "other"};
constexpr std::array<std::string_view, kStorageKinds> kKindNames{
    "parameter", "gradient", "state", "input", "activation", "temporary", "workspace"};

template <class Enum, std::size_t kCount>
std::optional<Enum> find_name(const std::array<std::string_view, kCount>& names,
                              std::string_view name) {
  for (std::size_t i = 0; i < kCount; ++i) {
    if (names[i] == name) return static_cast<Enum>(i);
  }
  return std::nullopt;
}

}  // namespace

std::string_view to_string(Phase phase) { return kPhaseNames[static_cast<std::size_t>(phase)]; }

std::string_view to_string(StorageKind kind) { return kKindNames[static_cast<std::size_t>(kind)]; }

std::optional<Phase> phase_from(std::string_view name) {
  return find_name<Phase>(kPhaseNames, name);
}

std::optional<StorageKind> storage_kind_from(std::string_view name) {
  return find_name<StorageKind>(kKindNames, name);
}

std::string Trace::value_name(ValueId id) const {
  if (!id.valid() || id.slot() >= values_.size()) return "no value";
  const Value& v = value(id);
  return storage(v.storage).name + "." + std::to_string(v.version);
}

std::string Trace::op_name(OpId id) const {
  if (id == end()) return "end of step";
  if (!id.valid() || id.slot() > ops_.size()) return "no op";
  return op(id).name + " (op " + std::to_string(id.index) + ")";
}

}  // namespace lowtide
