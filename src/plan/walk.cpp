// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "plan/walk.h"

#include "base/check.h"
#include "cost/op_cost.h"
#include "plan/replay.h"
#include "plan/residency.h"
#include "plan/schedule.h"

namespace lowtide::plan {
namespace {

using Kind = Violation::Kind;

class Walk {
 public:
  Walk(const Problem& problem, const Plan& plan, Findings& findings)
      : problem_(problem),
        trace_(*problem.trace),
        plan_(plan),
        findings_(findings),
        schedule_(trace_, plan),
        residency_(problem, plan, findings),
        reads_(problem, schedule_, residency_, findings),
        replay_(problem, plan, schedule_, residency_, findings) {}

  WalkResult go() {
    check_holds();
    for (tick_ = 0; tick_ <= schedule_.end() && !findings_.full(); ++tick_) {
      position_ = schedule_.lifetimes().op_at(tick_);
      residency_.begin_tick(position_);
      issue();
      wait();
      prelude();
      if (position_ != trace_.end()) run_op();
      release();
    }
    if (!findings_.full()) check_end();
    WalkResult result{
        residency_.peak_bytes(), residency_.peak_op(), residency_.tier_peak_bytes(), {}};
    for (std::size_t i = 0; i < result.tier_peak_bytes.size(); ++i) {
      result.tier_peak_op.push_back(residency_.tier_peak_op(make_id<TierId>(i)));
    }
    return result;
  }

 private:
  void check_holds() {
    for (const Action& action : plan_.actions) {
      const auto* hold = std::get_if<Hold>(&action);
      if (hold == nullptr || schedule_.first_tick(*hold) <= schedule_.last_tick(*hold)) continue;
      findings_.add({Kind::kBadPosition, hold->until, hold->value,
                     base::concat("the hold on ", name(hold->value), " begins with ",
                                  trace_.op_name(hold->from), " and ends earlier, with ",
                                  trace_.op_name(hold->until))});
    }
  }

  void issue() {
    for (const std::int32_t index : schedule_.at(tick_).issues) {
      const Action& action = action_at(index);
      if (const auto* fetch = std::get_if<Fetch>(&action)) {
        issue(*fetch, index);
      } else {
        decode(std::get<Decode>(action));
      }
    }
  }

  void issue(const Fetch& fetch, std::int32_t index) {
    const Presence& here = residency_.of(fetch.value);
    if (schedule_.lifetimes().tick_of(fetch.needed_by) < tick_) {
      report(Kind::kBadPosition, fetch.value,
             base::concat("the fetch of ", name(fetch.value), " is issued before ", here_name(),
                          " and needed earlier, by ", trace_.op_name(fetch.needed_by)));
    } else if (here.form != Form::kAbsent) {
      report(Kind::kAlreadyPresent, fetch.value, "fetch", " before ");
    } else if (!here.tier.valid()) {
      report(Kind::kNotInTier, fetch.value, "fetch", " before ");
    } else {
      residency_.issue_fetch(fetch.value, index);
    }
  }

  void decode(const Decode& decode) {
    if (residency_.of(decode.value).form != Form::kEncoded) {
      report(Kind::kNotPresent, decode.value, "decode", " before ");
    } else {
      residency_.decode(decode.value);
    }
  }

  void wait() {
    for (const std::int32_t index : schedule_.at(tick_).waits) {
      const ValueId value = std::get<Fetch>(action_at(index)).value;
      // Not so if the issue was refused, or the value died on the way.
      if (residency_.of(value).fetch == index) residency_.finish_fetch(value);
    }
  }

  void prelude() {
    const std::span<const std::int32_t> actions = schedule_.at(tick_).prelude;
    if (actions.empty()) return;
    replay_.begin_prelude(tick_, position_);
    for (const std::int32_t index : actions) {
      if (const auto* run = std::get_if<Run>(&action_at(index))) {
        replay_.run(*run, index);
      } else {
        drop(std::get<Drop>(action_at(index)).value, Residency::Loss::kDroppedBefore);
      }
    }
  }

  void run_op() {
    reads_.check(position_, Reads::kOriginal, tick_, position_);
    const Op& op = trace_.op(position_);
    const Implementation* chosen = reads_.chosen(position_);
    const bool on_host = chosen != nullptr && chosen->on_host;
    // What is overwritten is there until its new version is: results with bytes of their own first.
    std::vector<ValueId> in_place;
    for (const Use& use : op.writes) {
      if (takes_over(use.value, on_host)) {
        in_place.push_back(use.value);
      } else {
        make_result(use.value, on_host);
      }
    }
    for (const ValueId value : in_place) residency_.release(version_before(value));
    for (const ValueId value : in_place) make_result(value, on_host);
    if (!on_host) residency_.use_besides(workspace_bytes(problem_, op, chosen));
  }

  void make_result(ValueId value, bool on_host) {
    if (on_host) {
      residency_.make_in_tier(value, make_id<TierId>(0));
    } else {
      residency_.make_raw(value);
    }
  }

  // Whether a result takes the bytes of what it overwrites.
  bool takes_over(ValueId value, bool on_host) const {
    if (trace_.value(value).version == 0) return false;
    const ValueId old = version_before(value);
    const Presence& before = residency_.of(old);
    const bool fits =
        on_host ? before.lies_plain_in(make_id<TierId>(0)) : before.form == Form::kRaw;
    return fits && schedule_.held_until(old, tick_) <= tick_;
  }

  // Requires: the value is not the first version.
  ValueId version_before(ValueId value) const {
    const Value& v = trace_.value(value);
    return trace_.versions(v.storage)[static_cast<std::size_t>(v.version) - 1];
  }

  void release() {
    for (const ValueId value : schedule_.lifetimes().deaths(tick_)) {
      const bool outlives = schedule_.lifetimes().of(value).at_end;
      if (!outlives && schedule_.held_until(value, tick_) <= tick_) residency_.release(value);
    }
    for (const ValueId value : schedule_.holds_ending(tick_)) residency_.release(value);
    for (const std::int32_t index : schedule_.at(tick_).releases) {
      const Action& action = action_at(index);
      if (const auto* moved = std::get_if<Move>(&action)) {
        move(*moved);
      } else if (const auto* encoded = std::get_if<Encode>(&action)) {
        encode(*encoded);
      } else {
        drop(std::get<Drop>(action).value, Residency::Loss::kDroppedAfter);
      }
    }
  }

  void drop(ValueId value, Residency::Loss loss) {
    const Form form = residency_.of(value).form;
    const char* side = loss == Residency::Loss::kDroppedAfter ? " after " : " before ";
    if (form != Form::kRaw && form != Form::kEncoded) {
      report(Kind::kNotPresent, value, "drop", side);
      return;
    }
    check_pinned(value, "drop", side);
    residency_.let_go(value, loss);
  }

  void encode(const Encode& encode) {
    if (!check_raw(encode.value, "encode")) return;
    residency_.encode(encode.value, checked_codec(encode.value, encode.codec));
  }

  void move(const Move& move) {
    if (!check_raw(move.value, "move")) return;
    residency_.move(move.value, move.tier, checked_codec(move.value, move.codec));
  }

  bool check_raw(ValueId value, const char* what) {
    if (residency_.of(value).form != Form::kRaw) {
      report(Kind::kNotPresent, value, what, " after ");
      return false;
    }
    check_pinned(value, what, " after ");
    return true;
  }

  void check_pinned(ValueId value, const char* what, const char* side) {
    if (!trace_.storage_of(value).pinned || !schedule_.lifetimes().of(value).exists_at(tick_))
      return;
    report(Kind::kPinned, value,
           base::concat(what, " of ", name(value), side, here_name(), ": its storage is pinned"));
  }

  std::int32_t checked_codec(ValueId value, const std::string& codec) {
    const Storage& storage = trace_.storage_of(value);
    const std::int32_t index = codec_index(storage, codec);
    const bool exact = index < 0 || storage.codecs[static_cast<std::size_t>(index)].lossless;
    if (!exact && !problem_.allow_lossy) {
      report(Kind::kLossy, value,
             base::concat("codec ", codec, " of ", name(value), " after ", here_name(),
                          " is lossy, and the problem allows lossless ones only"));
    }
    return index;
  }

  void check_end() {
    position_ = trace_.end();
    std::vector<TierId> starts(trace_.storages().size());
    for (const StartsIn& start : plan_.starts) starts[start.storage.slot()] = start.tier;
    for (std::size_t s = 0; s < trace_.storages().size(); ++s) {
      const auto storage = make_id<StorageId>(s);
      if (!trace_.storage(storage).at_end) continue;
      const ValueId value = trace_.versions(storage).back();
      const Presence& here = residency_.of(value);
      if (here.form == Form::kEncoded) {
        report(Kind::kEncoded, value, name(value) + " is still encoded at the end of the step");
      } else if (here.nowhere()) {
        report(Kind::kLost, value,
               name(value) + " outlives the step, but " + residency_.whereabouts(value));
      } else if (trace_.storage(storage).at_start) {
        check_cyclic(value, starts[s]);
      }
    }
  }

  void check_cyclic(ValueId value, TierId start) {
    const Presence& here = residency_.of(value);
    if (start.valid() ? here.lies_plain_in(start) : here.form == Form::kRaw) return;
    const std::string begins =
        start.valid() ? "in tier " + problem_.machine.tier(start).name : "on the device";
    report(Kind::kNotCyclic, value,
           base::concat("storage ", trace_.storage_of(value).name, " starts ", begins,
                        ", but at the end of the step ", name(value), " ",
                        residency_.whereabouts(value)));
  }

  const Action& action_at(std::int32_t index) const {
    return plan_.actions[static_cast<std::size_t>(index)];
  }
  std::string name(ValueId value) const { return trace_.value_name(value); }
  std::string here_name() const { return trace_.op_name(position_); }

  void report(Kind kind, ValueId value, std::string message) {
    findings_.add({kind, position_, value, std::move(message)});
  }
  void report(Kind kind, ValueId value, const char* what, const char* side) {
    report(kind, value,
           base::concat(what, " of ", name(value), side, here_name(), ": the value ",
                        residency_.whereabouts(value)));
  }

  const Problem& problem_;
  const Trace& trace_;
  const Plan& plan_;
  Findings& findings_;
  Schedule schedule_;
  Residency residency_;
  Reads reads_;
  Replay replay_;
  Tick tick_ = 0;
  OpId position_;
};

}  // namespace

WalkResult walk(const Problem& problem, const Plan& plan, Findings& findings) {
  return Walk(problem, plan, findings).go();
}

}  // namespace lowtide::plan
