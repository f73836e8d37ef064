// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "naive_walk.h"

#include <algorithm>
#include <set>
#include <utility>

#include "lowtide/errors.h"
#include "naive_bytes.h"
#include "naive_rules.h"
#include "natural_lives.h"

namespace lowtide::oracle {
namespace {

void require(bool condition, const std::string& fault) {
  if (!condition) throw InvalidInput(fault);
}

class Walker {
 public:
  Walker(const Problem& problem, const Plan& plan)
      : trace_(*problem.trace),
        plan_(plan),
        lives_(trace_, checked_order(trace_, plan)),
        bytes_(problem, plan) {}

  NaiveVerdict walk() {
    place_sources();
    look();
    for (tick_ = 0; tick_ <= lives_.end(); ++tick_) {
      for (auto& entry : where_) entry.second.leaving_bytes = 0;
      issue();
      wait();
      prelude();
      if (tick_ < lives_.end()) run_op();
      release();
    }
    check_end();
    bytes_.check_limits(result_);
    return result_;
  }

 private:
  void look(std::int64_t besides = 0) { bytes_.look(where_, besides, result_); }

  int held_until(ValueId value) const { return oracle::held_until(plan_, lives_, value, tick_); }
  const Implementation* chosen(OpId op) const { return oracle::chosen(trace_, plan_, op); }
  std::int64_t workspace(OpId op) const {
    const Implementation* option = chosen(op);
    return bytes_.rounded(option == nullptr ? trace_.op(op).workspace_bytes
                                            : option->workspace_bytes);
  }

  template <class A>
  std::vector<std::size_t> actions_of() const {
    std::vector<std::size_t> indices;
    for (std::size_t i = 0; i < plan_.actions.size(); ++i) {
      if (std::holds_alternative<A>(plan_.actions[i])) indices.push_back(i);
    }
    return indices;
  }
  bool is_now(OpId op) const { return lives_.tick_of(op) == tick_; }

  void place_sources() {
    for (std::size_t i = 0; i < trace_.values().size(); ++i) {
      const auto value = make_id<ValueId>(i);
      if (!trace_.value(value).is_source()) continue;
      where_[value].form = Form::kRaw;
      for (const StartsIn& start : plan_.starts) {
        if (start.storage != trace_.value(value).storage) continue;
        where_[value] = Where{};
        where_[value].tier = start.tier;
      }
    }
    for (const std::size_t i : actions_of<Hold>())
      held_until(std::get<Hold>(plan_.actions[i]).value);
  }

  void issue() {
    for (std::size_t i = 0; i < plan_.actions.size(); ++i) {
      if (const auto* fetch = std::get_if<Fetch>(&plan_.actions[i])) {
        if (!is_now(fetch->issue_before)) continue;
        Where& where = where_[fetch->value];
        require(lives_.tick_of(fetch->needed_by) >= tick_, "a fetch is needed before its issue");
        require(where.form == Form::kNone && where.tier.valid(), "nothing to fetch");
        where.form = Form::kIncoming;
        where.fetch = i;
        look();
      } else if (const auto* decode = std::get_if<Decode>(&plan_.actions[i])) {
        if (!is_now(decode->before)) continue;
        Where& where = where_[decode->value];
        require(where.form == Form::kEncoded, "nothing to decode");
        look(bytes_.raw(decode->value));
        where.form = Form::kRaw;
      }
    }
  }

  void wait() {
    for (const std::size_t i : actions_of<Fetch>()) {
      const Fetch& fetch = std::get<Fetch>(plan_.actions[i]);
      Where& where = where_[fetch.value];
      if (!is_now(fetch.needed_by) || where.form != Form::kIncoming || where.fetch != i) continue;
      where = Where{};
      where.form = Form::kRaw;
    }
  }

  void prelude() {
    temporary_.clear();
    for (std::size_t i = 0; i < plan_.actions.size(); ++i) {
      if (const auto* run = std::get_if<Run>(&plan_.actions[i])) {
        if (is_now(run->before)) replay(run->op, i);
      } else if (const auto* drop = std::get_if<Drop>(&plan_.actions[i])) {
        if (drop->side == Drop::Side::kBefore && is_now(drop->op)) let_go(drop->value);
      }
    }
  }

  void let_go(ValueId value) {
    const Form form = where_[value].form;
    require(form == Form::kRaw || form == Form::kEncoded, "nothing to drop");
    check_pinned(value);
    where_[value].form = Form::kNone;
  }

  void check_pinned(ValueId value) const {
    require(!trace_.storage_of(value).pinned || !lives_.exists(value, tick_), "pinned");
  }

  bool can_read(ValueId value, const Implementation* option) {
    const Where& where = where_[value];
    if (option != nullptr && option->on_host) return where.is_plain_on_host();
    if (where.form == Form::kRaw) return true;
    return option != nullptr && option->reads_host && where.is_plain_on_host();
  }

  void replay(OpId id, std::size_t index) {
    const Op& op = trace_.op(id);
    const Implementation* option = chosen(id);
    require(lives_.tick_of(id) < tick_, "a replay of what has not run");
    require(op.replayable && (option == nullptr || !option->on_host), "not replayable");
    for (const Use& use : op.reads) {
      require(use.side_effect || can_read(use.value, option), "a replay misses an input");
    }
    std::int64_t results = 0;
    std::set<ValueId> made;
    for (const Use& use : op.writes) {
      results += bytes_.raw(use.value);
      if (!use.side_effect && where_[use.value].is_nowhere()) made.insert(use.value);
    }
    require(!made.empty(), "a replay of what is there");
    // Every result lies beside what is there; the places of new ones are taken as well.
    for (const ValueId value : made) {
      results -= bytes_.raw(value);
      where_[value].form = Form::kRaw;
    }
    look(results + workspace(id));
    for (const ValueId value : made) {
      temporary_.erase(value);
      if (lives_.exists(value, tick_) || held_until(value) >= tick_) continue;
      temporary_.insert(value);
    }
    // What was wanted by runs only, of which there is none left, goes.
    for (const ValueId value : std::set<ValueId>(temporary_)) {
      if (is_read_by_later_run(trace_, plan_, value, index)) continue;
      temporary_.erase(value);
      where_[value].form = Form::kNone;
    }
  }

  void run_op() {
    const OpId id{lives_.op_at(tick_)};
    const Implementation* option = chosen(id);
    const bool on_host = option != nullptr && option->on_host;
    for (const Use& use : trace_.op(id).reads) {
      require(can_read(use.value, option), "an op misses an input");
    }
    // What is overwritten is there until its new version is.
    std::set<ValueId> in_place;
    for (const Use& use : trace_.op(id).writes) {
      if (takes_over(use.value, on_host)) {
        in_place.insert(use.value);
      } else {
        make_result(use.value, on_host);
      }
    }
    look();
    for (const ValueId value : in_place) where_[lives_.before(value)] = Where{};
    for (const ValueId value : in_place) make_result(value, on_host);
    look(on_host ? 0 : workspace(id));
  }

  void make_result(ValueId value, bool on_host) {
    where_[value] = Where{};
    if (on_host) {
      where_[value].tier = TierId{0};
    } else {
      where_[value].form = Form::kRaw;
    }
  }

  bool takes_over(ValueId value, bool on_host) {
    const ValueId old = lives_.before(value);
    if (!old.valid() || held_until(old) > tick_) return false;
    return on_host ? where_[old].is_plain_on_host() : where_[old].form == Form::kRaw;
  }

  void release() {
    for (auto& entry : where_) {
      const ValueId value = entry.first;
      const int dies = lives_.dies(value);
      const bool ends = dies == tick_ && !lives_.outlives(value) && held_until(value) <= tick_;
      if (ends || (dies < tick_ && held_until(value) == tick_)) entry.second = Where{};
    }
    for (const Action& action : plan_.actions) {
      if (const auto* drop = std::get_if<Drop>(&action)) {
        if (drop->side == Drop::Side::kAfter && is_now(drop->op)) let_go(drop->value);
      } else if (const auto* encode = std::get_if<Encode>(&action)) {
        if (is_now(encode->after)) shrink(encode->value, encode->codec);
      } else if (const auto* move = std::get_if<Move>(&action)) {
        if (is_now(move->after)) move_out(*move);
      }
    }
  }

  void shrink(ValueId value, const std::string& codec) {
    Where& where = where_[value];
    require(where.form == Form::kRaw, "nothing to encode");
    check_pinned(value);
    look(bytes_.encoded(value, codec));
    where.form = Form::kEncoded;
    where.codec = codec;
  }

  void move_out(const Move& move) {
    Where& where = where_[move.value];
    require(where.form == Form::kRaw, "nothing to move");
    check_pinned(move.value);
    if (!move.codec.empty()) shrink(move.value, move.codec);
    where.leaving_bytes = bytes_.of(move.value, where);
    where.form = Form::kNone;
    where.tier = move.tier;
    where.tier_codec = move.codec;
    look();
  }

  void check_end() {
    for (std::size_t i = 0; i < trace_.storages().size(); ++i) {
      const auto storage = make_id<StorageId>(i);
      if (!trace_.storage(storage).at_end) continue;
      const Where& where = where_[trace_.versions(storage).back()];
      require(where.form == Form::kRaw || (where.form == Form::kNone && where.tier.valid()),
              "lost at the end");
      if (!trace_.storage(storage).at_start) continue;
      TierId start;
      for (const StartsIn& entry : plan_.starts) {
        if (entry.storage == storage) start = entry.tier;
      }
      const bool is_back = start.valid() ? where.tier == start && where.tier_codec.empty()
                                         : where.form == Form::kRaw;
      require(is_back, "ends elsewhere than it starts");
    }
  }

  const Trace& trace_;
  const Plan& plan_;
  NaturalLives lives_;
  NaiveBytes bytes_;
  int tick_ = 0;
  Whereabouts where_;
  // Results of this prelude that are there for later runs of it only.
  std::set<ValueId> temporary_;
  NaiveVerdict result_;
};

}  // namespace

NaiveVerdict naive_walk(const Problem& problem, const Plan& plan) {
  try {
    check_words(problem, plan);
    return Walker(problem, plan).walk();
  } catch (const InvalidInput& fault) {
    NaiveVerdict verdict;
    verdict.fault = fault.what();
    return verdict;
  }
}

}  // namespace lowtide::oracle
