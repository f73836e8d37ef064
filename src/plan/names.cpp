// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include <utility>

#include "base/check.h"
#include "plan/schedule.h"

namespace lowtide::plan {
namespace {

using Kind = Violation::Kind;
using Found = std::optional<Violation>;

// Looks at one action; the first fault it finds stays.
class NameCheck {
 public:
  explicit NameCheck(const Problem& problem) : problem_(problem), trace_(*problem.trace) {}

  Found found() && { return std::move(found_); }

  void check(const Drop& a) {
    value(a.value);
    if (a.side == Drop::Side::kBefore) {
      position(a.op);
    } else {
      op(a.op);
    }
  }
  void check(const Hold& a) {
    value(a.value);
    position(a.until);
    position(a.from);
  }
  void check(const Run& a) {
    op(a.op);
    position(a.before);
  }
  void check(const Move& a) {
    value(a.value);
    tier(a.tier);
    op(a.after);
    if (!a.codec.empty()) codec(a.value, a.codec);
  }
  void check(const Fetch& a) {
    value(a.value);
    position(a.issue_before);
    position(a.needed_by);
  }
  void check(const Encode& a) {
    value(a.value);
    op(a.after);
    codec(a.value, a.codec);
  }
  void check(const Decode& a) {
    value(a.value);
    position(a.before);
  }
  void check(const Choose& a) {
    op(a.op);
    if (!found_) implementation(a);
  }
  void check(const Place& a) {
    value(a.value);
    const bool one = a.pool.has_value() != a.offset_bytes.has_value();
    require(one, Kind::kBadPosition, "a place must be either a pool or an offset");
    require(a.pool.value_or(0) >= 0, Kind::kBadPosition, "a pool must not be negative");
    require(a.offset_bytes.value_or(0) >= 0, Kind::kBadPosition, "an offset must not be negative");
  }
  // Whether it is a permutation concerns the whole list, see order_check.h.
  void check(const Order&) {}
  void check(const StartsIn& a) {
    const bool exists = a.storage.valid() && a.storage.slot() < trace_.storages().size();
    require(exists, Kind::kUnknownName, "there is no storage ", a.storage.index);
    tier(a.tier);
  }

 private:
  template <class... Parts>
  void require(bool condition, Kind kind, const Parts&... parts) {
    if (condition || found_) return;
    found_ = Violation{kind, op_, value_, base::concat(parts...)};
  }

  void value(ValueId id) {
    const bool exists = id.valid() && id.slot() < trace_.values().size();
    if (exists) value_ = id;
    require(exists, Kind::kUnknownName, "there is no value ", id.index);
  }

  // An op or the end of the step.
  void position(OpId id) {
    const bool exists = id.valid() && id <= trace_.end();
    if (exists && !op_.valid()) op_ = id;
    require(exists, Kind::kUnknownName, "there is no op ", id.index);
  }

  void op(OpId id) {
    position(id);
    require(id != trace_.end(), Kind::kBadPosition,
            "this action cannot stand at the end of the step");
  }

  void tier(TierId id) {
    const bool exists = id.valid() && id.slot() < problem_.machine.tiers.size();
    require(exists, Kind::kUnknownName, "the machine has no tier ", id.index);
  }

  void codec(ValueId id, const std::string& name) {
    if (found_) return;
    const Storage& storage = trace_.storage_of(id);
    require(codec_index(storage, name) >= 0, Kind::kUnknownName, "storage ", storage.name,
            " has no codec '", name, "'");
  }

  void implementation(const Choose& a) {
    const std::vector<Implementation>& options = trace_.op(a.op).options;
    const bool exists =
        a.implementation >= 0 && static_cast<std::size_t>(a.implementation) < options.size();
    require(exists, Kind::kUnknownName, trace_.op_name(a.op), " has no implementation ",
            a.implementation);
    if (found_) return;
    const Implementation& option = options[static_cast<std::size_t>(a.implementation)];
    require(!option.on_host || !problem_.machine.tiers.empty(), Kind::kUnknownName,
            "implementation ", option.name, " of ", trace_.op_name(a.op),
            " runs on the host, and the machine has no host tier");
  }

  const Problem& problem_;
  const Trace& trace_;
  OpId op_;
  ValueId value_;
  Found found_;
};

}  // namespace

std::int32_t codec_index(const Storage& storage, std::string_view name) {
  for (std::size_t i = 0; i < storage.codecs.size(); ++i) {
    if (storage.codecs[i].name == name) return static_cast<std::int32_t>(i);
  }
  return -1;
}

std::optional<Violation> check_names(const Problem& problem, const Action& action) {
  NameCheck check(problem);
  std::visit([&check](const auto& a) { check.check(a); }, action);
  return std::move(check).found();
}

std::optional<Violation> check_names(const Problem& problem, const StartsIn& start) {
  NameCheck check(problem);
  check.check(start);
  return std::move(check).found();
}

}  // namespace lowtide::plan
