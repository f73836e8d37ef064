// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "plan/name_table.h"

#include <algorithm>

#include "base/check.h"
#include "base/numbers.h"
#include "plan/schedule.h"

namespace lowtide::plan {
namespace {

// Plain ASCII without blanks: one word of a text file, and always valid in JSON.
bool is_printable(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > ' ' && c < '\x7f'; });
}

bool is_word(std::string_view text) {
  return !text.empty() && text.front() != '#' && is_printable(text);
}

void require_printable(const OnlineRule& rule) {
  LT_REQUIRE(is_word(rule.policy), "not a name for an online policy: '", rule.policy, "'");
  for (const auto& [key, value] : rule.options) {
    LT_REQUIRE(is_word(key) && key.find('=') == std::string::npos && is_printable(value),
               "not an option of an online policy: '", key, "=", value, "'");
  }
}

void require_ops(const Order& order, const Trace& trace) {
  for (const OpId op : order.sequence) {
    LT_REQUIRE(op.valid() && op < trace.end(), "the order names op ", op.index,
               ", which is not an op of the trace");
  }
}

}  // namespace

NameTable::NameTable(const Problem& problem) : problem_(problem) {
  const std::vector<Storage>& storages = problem.trace->storages();
  for (std::size_t i = 0; i < storages.size(); ++i) {
    storages_.emplace(storages[i].name, make_id<StorageId>(i));
  }
}

StorageId NameTable::storage(std::string_view name) const {
  const auto found = storages_.find(name);
  LT_REQUIRE(found != storages_.end(), "the trace has no storage '", name, "'");
  return found->second;
}

ValueId NameTable::value(std::string_view name) const {
  const std::size_t dot = name.rfind('.');
  LT_REQUIRE(dot != std::string_view::npos, "not a value: '", name, "'; write STORAGE.VERSION");
  const std::span<const ValueId> versions = problem_.trace->versions(storage(name.substr(0, dot)));
  const auto version = base::parse_number<std::int64_t>(name.substr(dot + 1));
  LT_REQUIRE(version && *version >= 0 && *version < static_cast<std::int64_t>(versions.size()),
             "the trace has no value '", name, "'; the storage has ", versions.size(), " versions");
  return versions[static_cast<std::size_t>(*version)];
}

TierId NameTable::tier(std::string_view name) const {
  const std::vector<Tier>& tiers = problem_.machine.tiers;
  for (std::size_t i = 0; i < tiers.size(); ++i) {
    if (tiers[i].name == name) return make_id<TierId>(i);
  }
  throw InvalidInput(base::concat("machine ", problem_.machine.name, " has no tier '", name, "'"));
}

OpId NameTable::position(std::string_view word) const {
  const OpId end = problem_.trace->end();
  if (word == "end") return end;
  const auto index = base::parse_number<std::int32_t>(word);
  LT_REQUIRE(index && *index >= 0 && *index < end.index, "the trace has no op '", word,
             "'; write an index below ", end.index, " or 'end'");
  return OpId{*index};
}

std::int32_t NameTable::implementation(OpId op, std::string_view name) const {
  LT_REQUIRE(op.valid() && op < problem_.trace->end(), "the end of the step has no implementation");
  const std::vector<Implementation>& options = problem_.trace->op(op).options;
  for (std::size_t i = 0; i < options.size(); ++i) {
    if (options[i].name == name) return static_cast<std::int32_t>(i);
  }
  throw InvalidInput(
      base::concat(problem_.trace->op_name(op), " has no implementation '", name, "'"));
}

void require_digest(std::string_view found, const Trace& trace) {
  const std::string own = digest(trace);
  LT_REQUIRE(found == own, "this plan belongs to another trace (digest ", found,
             ", this trace has ", own, "); plan it again with `lowtide plan`");
}

void require_printable(const Plan& plan, const Problem& problem) {
  LT_REQUIRE(is_word(plan.policy), "not a name for a policy: '", plan.policy, "'");
  LT_REQUIRE(plan.budget_bytes >= 0, "the budget must not be negative: ", plan.budget_bytes);
  for (const StartsIn& start : plan.starts) {
    const std::optional<Violation> fault = check_names(problem, start);
    LT_REQUIRE(!fault, fault->message);
  }
  for (const Action& action : plan.actions) {
    const std::optional<Violation> fault = check_names(problem, action);
    LT_REQUIRE(!fault, fault->message);
    if (const auto* order = std::get_if<Order>(&action)) require_ops(*order, *problem.trace);
  }
  if (plan.online) require_printable(*plan.online);
}

}  // namespace lowtide::plan
