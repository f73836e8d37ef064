// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "plan/sift.h"

#include "base/check.h"
#include "plan/schedule.h"

namespace lowtide::plan {
namespace {

using Kind = Violation::Kind;

class Sieve {
 public:
  Sieve(const Problem& problem, Findings& findings)
      : problem_(problem),
        trace_(*problem.trace),
        findings_(findings),
        started_(trace_.storages().size(), false),
        chosen_(trace_.ops().size(), false),
        placed_(trace_.values().size(), false) {}

  bool keeps(const StartsIn& start) {
    if (reported(check_names(problem_, start))) return false;
    const Storage& storage = trace_.storage(start.storage);
    if (!storage.at_start) {
      return refuse(Kind::kNotPresent, OpId{}, ValueId{},
                    "storage " + storage.name + " does not exist when the step begins");
    }
    const ValueId source = trace_.versions(start.storage).front();
    if (storage.pinned) {
      return refuse(Kind::kPinned, OpId{}, source,
                    "storage " + storage.name + " is pinned and cannot start in a tier");
    }
    if (started_[start.storage.slot()]) {
      return refuse(Kind::kAlreadyPresent, OpId{}, source,
                    "storage " + storage.name + " starts in two places");
    }
    started_[start.storage.slot()] = true;
    return true;
  }

  bool keeps(const Action& action) {
    if (reported(check_names(problem_, action))) return false;
    if (const auto* choose = std::get_if<Choose>(&action)) return keeps_choice(*choose);
    if (const auto* place = std::get_if<Place>(&action)) return keeps_place(*place);
    return true;
  }

 private:
  bool keeps_choice(const Choose& choose) {
    if (chosen_[choose.op.slot()]) {
      return refuse(Kind::kBadPosition, choose.op, ValueId{},
                    "two implementations are chosen for " + trace_.op_name(choose.op));
    }
    chosen_[choose.op.slot()] = true;
    const auto index = static_cast<std::size_t>(choose.implementation);
    const Implementation& option = trace_.op(choose.op).options[index];
    if (!option.bit_exact && !problem_.allow_lossy) {
      findings_.add({Kind::kLossy, choose.op, ValueId{},
                     base::concat("implementation ", option.name, " of ", trace_.op_name(choose.op),
                                  " is not exact, and the problem allows exact ones only")});
    }
    return true;
  }

  bool keeps_place(const Place& place) {
    if (placed_[place.value.slot()]) {
      return refuse(Kind::kBadPosition, trace_.value(place.value).producer, place.value,
                    trace_.value_name(place.value) + " is placed twice");
    }
    placed_[place.value.slot()] = true;
    return true;
  }

  bool reported(std::optional<Violation> fault) {
    if (!fault) return false;
    findings_.add(*std::move(fault));
    return true;
  }

  bool refuse(Kind kind, OpId op, ValueId value, std::string message) {
    findings_.add({kind, op, value, std::move(message)});
    return false;
  }

  const Problem& problem_;
  const Trace& trace_;
  Findings& findings_;
  std::vector<bool> started_;
  std::vector<bool> chosen_;
  std::vector<bool> placed_;
};

}  // namespace

Plan sift(const Problem& problem, const Plan& plan, Findings& findings) {
  Plan kept;
  Sieve sieve(problem, findings);
  for (const StartsIn& start : plan.starts) {
    if (sieve.keeps(start)) kept.starts.push_back(start);
  }
  kept.actions.reserve(plan.actions.size());
  for (const Action& action : plan.actions) {
    if (sieve.keeps(action)) kept.actions.push_back(action);
  }
  return kept;
}

}  // namespace lowtide::plan
