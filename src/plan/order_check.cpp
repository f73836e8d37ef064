// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "plan/order_check.h"

#include <cstdint>

#include "base/check.h"

namespace lowtide::plan {
namespace {

using Kind = Violation::Kind;

class OrderCheck {
 public:
  OrderCheck(const Trace& trace, const Order& order, Findings& findings)
      : trace_(trace), order_(order), findings_(findings), places_(trace.ops().size(), -1) {}

  void check() {
    if (!find_places()) return;
    for (std::size_t i = 0; i < trace_.ops().size() && !findings_.full(); ++i) {
      check_op(make_id<OpId>(i));
    }
  }

 private:
  // The place of each op in the order; false if it is no permutation.
  bool find_places() {
    std::int32_t next = 0;
    for (const OpId op : order_.sequence) {
      if (!op.valid() || op >= trace_.end()) {
        return refuse(OpId{},
                      base::concat("the order names op ", op.index, ", which does not exist"));
      }
      if (places_[op.slot()] >= 0) {
        return refuse(op, "the order names " + trace_.op_name(op) + " twice");
      }
      places_[op.slot()] = next++;
    }
    if (order_.sequence.size() == trace_.ops().size()) return true;
    return refuse(OpId{}, base::concat("the order names ", order_.sequence.size(), " of ",
                                       trace_.ops().size(), " ops"));
  }

  bool refuse(OpId op, std::string message) {
    findings_.add({Kind::kBadOrder, op, ValueId{}, std::move(message)});
    return false;
  }

  void check_op(OpId op) {
    for (const Use& use : trace_.op(op).reads) {
      require(trace_.value(use.value).producer, op, use.value, "reads");
      const OpId overwriter = next_writer(use.value);
      if (overwriter.valid() && overwriter != op) require(op, overwriter, use.value, "overwrites");
    }
    for (const Use& use : trace_.op(op).writes) {
      const Value& value = trace_.value(use.value);
      if (value.version == 0) continue;
      const ValueId old =
          trace_.versions(value.storage)[static_cast<std::size_t>(value.version) - 1];
      require(trace_.value(old).producer, op, old, "overwrites");
    }
    for (const StorageId view : trace_.op(op).views) {
      const ValueId first = trace_.versions(view).front();
      const OpId producer = trace_.value(first).producer;
      if (producer < op) require(producer, op, first, "makes a view of");
    }
  }

  OpId next_writer(ValueId id) const {
    const Value& value = trace_.value(id);
    const std::span<const ValueId> versions = trace_.versions(value.storage);
    const auto next = static_cast<std::size_t>(value.version) + 1;
    return next < versions.size() ? trace_.value(versions[next]).producer : OpId{};
  }

  void require(OpId earlier, OpId later, ValueId value, const char* does) {
    if (!earlier.valid() || places_[earlier.slot()] < places_[later.slot()]) return;
    findings_.add({Kind::kBadOrder, later, value,
                   base::concat("the order puts ", trace_.op_name(later), ", which ", does, " ",
                                trace_.value_name(value), ", before ", trace_.op_name(earlier))});
  }

  const Trace& trace_;
  const Order& order_;
  Findings& findings_;
  std::vector<std::int32_t> places_;
};

}  // namespace

void check_order(const Problem& problem, const Plan& plan, Findings& findings) {
  bool seen = false;
  for (const Action& action : plan.actions) {
    const auto* order = std::get_if<Order>(&action);
    if (order == nullptr) continue;
    if (seen) {
      findings.add({Kind::kBadOrder, OpId{}, ValueId{}, "the plan has more than one order"});
      return;
    }
    seen = true;
    OrderCheck(*problem.trace, *order, findings).check();
  }
}

}  // namespace lowtide::plan
