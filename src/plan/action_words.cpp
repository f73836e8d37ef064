// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "plan/action_words.h"

#include <algorithm>
#include <optional>

#include "base/check.h"
#include "base/numbers.h"
#include "plan/schedule.h"

namespace lowtide::plan {
namespace {

using Words = std::vector<std::string_view>;

constexpr ActionForm::Field name_field(const char* name) { return {name, false, false}; }
constexpr ActionForm::Field number_field(const char* name) { return {name, true, false}; }
constexpr ActionForm::Field maybe_name(const char* name) { return {name, false, true}; }
constexpr ActionForm::Field maybe_number(const char* name) { return {name, true, true}; }

const std::vector<ActionForm>& forms() {
  static const std::vector<ActionForm> kForms{
      {"drop",
       "drop VALUE after OP, or drop VALUE before OP",
       {name_field("value")},
       {maybe_number("after"), maybe_number("before")}},
      {"hold",
       "hold VALUE [from OP] until OP",
       {name_field("value")},
       {maybe_number("from"), number_field("until")}},
      {"run", "run OP before OP", {number_field("op")}, {number_field("before")}},
      {"move",
       "move VALUE TIER after OP [codec NAME]",
       {name_field("value"), name_field("tier")},
       {number_field("after"), maybe_name("codec")}},
      {"fetch",
       "fetch VALUE issue OP need OP",
       {name_field("value")},
       {number_field("issue"), number_field("need")}},
      {"encode",
       "encode VALUE CODEC after OP",
       {name_field("value"), name_field("codec")},
       {number_field("after")}},
      {"decode", "decode VALUE before OP", {name_field("value")}, {number_field("before")}},
      {"choose",
       "choose OP IMPLEMENTATION",
       {number_field("op"), name_field("implementation")},
       {}},
      {"place",
       "place VALUE offset BYTES, or place VALUE pool N",
       {name_field("value")},
       {maybe_number("offset"), maybe_number("pool")}},
  };
  return kForms;
}

const ActionForm& form_of(std::string_view name) {
  const ActionForm* form = find_form(name);
  if (form != nullptr) return *form;
  std::string known;
  for (const ActionForm& other : forms()) known += std::string(other.name) + ", ";
  throw InvalidInput(base::concat("unknown action '", name, "'; known are ", known, "order"));
}

// The fields of one action, taken apart by its form.
class Fields {
 public:
  Fields(const Words& words, const NameTable& names) : form_(form_of(words[0])), names_(names) {
    LT_REQUIRE(words.size() > form_.plain.size(), "write: ", form_.usage);
    std::size_t at = 1;
    for (; at <= form_.plain.size(); ++at) plain_.push_back(words[at]);
    for (const ActionForm::Field& field : form_.keyed) {
      const bool here = at + 1 < words.size() && words[at] == field.name;
      LT_REQUIRE(here || field.optional, "write: ", form_.usage);
      keyed_.push_back(here ? std::optional(words[at + 1]) : std::nullopt);
      if (here) at += 2;
    }
    LT_REQUIRE(at == words.size(), "write: ", form_.usage);
  }

  std::string_view plain(std::size_t i) const { return plain_[i]; }
  const std::optional<std::string_view>& keyed(std::size_t i) const { return keyed_[i]; }
  ValueId value() const { return names_.value(plain_[0]); }
  OpId op(std::size_t keyed_index) const { return names_.position(*keyed_[keyed_index]); }

  // Exactly one of two keyed fields is there; says whether it is the first.
  bool has_first_of_two() const {
    LT_REQUIRE(keyed_[0].has_value() != keyed_[1].has_value(), "write: ", form_.usage);
    return keyed_[0].has_value();
  }

 private:
  const ActionForm& form_;
  const NameTable& names_;
  Words plain_;
  std::vector<std::optional<std::string_view>> keyed_;
};

template <class Number>
Number number_from(std::string_view word, std::string_view what) {
  const std::optional<Number> number = base::parse_number<Number>(word);
  LT_REQUIRE(number, "not a number for ", what, ": '", word, "'");
  return *number;
}

Order order_from(const Words& words, const NameTable& names) {
  Order order;
  order.sequence.reserve(words.size() - 1);
  for (std::size_t i = 1; i < words.size(); ++i) {
    const OpId op = names.position(words[i]);
    LT_REQUIRE(op != names.problem().trace->end(), "an order lists ops only, not 'end'");
    order.sequence.push_back(op);
  }
  return order;
}

Action placing_from(const Fields& fields) {
  Place place{.value = fields.value(), .pool = {}, .offset_bytes = {}};
  if (fields.has_first_of_two()) {
    place.offset_bytes = number_from<std::int64_t>(*fields.keyed(0), "offset");
  } else {
    place.pool = number_from<std::int32_t>(*fields.keyed(1), "pool");
  }
  return place;
}

Action resolve(const Words& words, const NameTable& names) {
  const std::string_view name = words[0];
  if (name == "order") return order_from(words, names);
  const Fields in(words, names);
  if (name == "drop") {
    const bool after = in.has_first_of_two();
    return Drop{in.value(), in.op(after ? 0 : 1), after ? Drop::Side::kAfter : Drop::Side::kBefore};
  }
  if (name == "hold") {
    return Hold{in.value(), in.op(1), in.keyed(0) ? in.op(0) : OpId{0}};
  }
  if (name == "run") return Run{names.position(in.plain(0)), in.op(0)};
  if (name == "move") {
    return Move{in.value(), names.tier(in.plain(1)), in.op(0),
                std::string(in.keyed(1).value_or(""))};
  }
  if (name == "fetch") return Fetch{in.value(), in.op(0), in.op(1)};
  if (name == "encode") return Encode{in.value(), std::string(in.plain(1)), in.op(0)};
  if (name == "decode") return Decode{in.value(), in.op(0)};
  if (name == "choose") {
    const OpId op = names.position(in.plain(0));
    return Choose{op, names.implementation(op, in.plain(1))};
  }
  return placing_from(in);
}

// Spells actions.
class Speller {
 public:
  explicit Speller(const Problem& problem) : problem_(problem), trace_(*problem.trace) {}

  std::vector<std::string> operator()(const Drop& a) const {
    const bool after = a.side == Drop::Side::kAfter;
    return {"drop", value(a.value), after ? "after" : "before", op(a.op)};
  }
  std::vector<std::string> operator()(const Hold& a) const {
    if (a.from == OpId{0}) return {"hold", value(a.value), "until", op(a.until)};
    return {"hold", value(a.value), "from", op(a.from), "until", op(a.until)};
  }
  std::vector<std::string> operator()(const Run& a) const {
    return {"run", op(a.op), "before", op(a.before)};
  }
  std::vector<std::string> operator()(const Move& a) const {
    std::vector<std::string> words{"move", value(a.value), problem_.machine.tier(a.tier).name,
                                   "after", op(a.after)};
    if (!a.codec.empty()) words.insert(words.end(), {"codec", a.codec});
    return words;
  }
  std::vector<std::string> operator()(const Fetch& a) const {
    return {"fetch", value(a.value), "issue", op(a.issue_before), "need", op(a.needed_by)};
  }
  std::vector<std::string> operator()(const Encode& a) const {
    return {"encode", value(a.value), a.codec, "after", op(a.after)};
  }
  std::vector<std::string> operator()(const Decode& a) const {
    return {"decode", value(a.value), "before", op(a.before)};
  }
  std::vector<std::string> operator()(const Choose& a) const {
    const auto option = static_cast<std::size_t>(a.implementation);
    return {"choose", op(a.op), trace_.op(a.op).options[option].name};
  }
  std::vector<std::string> operator()(const Place& a) const {
    if (a.pool) return {"place", value(a.value), "pool", std::to_string(*a.pool)};
    return {"place", value(a.value), "offset", std::to_string(*a.offset_bytes)};
  }
  std::vector<std::string> operator()(const Order& a) const {
    std::vector<std::string> words{"order"};
    for (const OpId id : a.sequence) words.push_back(op(id));
    return words;
  }

 private:
  std::string value(ValueId id) const { return trace_.value_name(id); }
  std::string op(OpId id) const { return id == trace_.end() ? "end" : std::to_string(id.index); }

  const Problem& problem_;
  const Trace& trace_;
};

}  // namespace

const ActionForm* find_form(std::string_view name) {
  const auto found = std::find_if(forms().begin(), forms().end(),
                                  [name](const ActionForm& form) { return form.name == name; });
  return found == forms().end() ? nullptr : &*found;
}

std::vector<std::string> to_words(const Action& action, const Problem& problem) {
  return std::visit(Speller(problem), action);
}

Action action_from_words(const std::vector<std::string_view>& words, const NameTable& names) {
  Action action = resolve(words, names);
  const std::optional<Violation> fault = check_names(names.problem(), action);
  LT_REQUIRE(!fault, fault->message);
  return action;
}

}  // namespace lowtide::plan
