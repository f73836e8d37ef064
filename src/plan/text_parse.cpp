// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include <optional>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/numbers.h"
#include "base/words.h"
#include "plan/action_words.h"
#include "plan/text.h"

namespace lowtide::plan {
namespace {

using Words = std::vector<std::string_view>;

OnlineRule online_from(const Words& words) {
  LT_REQUIRE(words.size() >= 2, "write: online POLICY [KEY=VALUE ...]");
  OnlineRule rule{.policy = std::string(words[1]), .options = {}};
  for (std::size_t i = 2; i < words.size(); ++i) {
    const std::size_t equals = words[i].find('=');
    LT_REQUIRE(equals != std::string_view::npos && equals > 0, "not KEY=VALUE: '", words[i], "'");
    const bool is_new = rule.options
                            .emplace(std::string(words[i].substr(0, equals)),
                                     std::string(words[i].substr(equals + 1)))
                            .second;
    LT_REQUIRE(is_new, "the option '", words[i].substr(0, equals), "' stands twice");
  }
  return rule;
}

// Reads one plan line by line. The lines in front of the actions come in a fixed order, so that
// the digest is known before anything of the trace is named.
class Parser {
 public:
  explicit Parser(const Problem& problem) : problem_(problem), names_(problem) {}

  Plan parse(std::string_view text) {
    base::for_each_line(text, [this](const Words& words) { parse_line(words); });
    LT_REQUIRE(next_ != Expected::kHeader, "not a plan: the first line must be 'lowtide-plan 1'");
    LT_REQUIRE(next_ == Expected::kAction,
               "the plan ends before its lines policy, trace and budget");
    require_printable(plan_, problem_);
    return std::move(plan_);
  }

 private:
  enum class Expected { kHeader, kPolicy, kTrace, kBudget, kAction };

  void parse_line(const Words& words) {
    switch (next_) {
      case Expected::kHeader:
        return parse_header(words);
      case Expected::kPolicy:
        plan_.policy = lead(words, "policy", "NAME");
        next_ = Expected::kTrace;
        return;
      case Expected::kTrace:
        plan_.trace_digest = lead(words, "trace", "DIGEST");
        require_digest(plan_.trace_digest, *problem_.trace);
        next_ = Expected::kBudget;
        return;
      case Expected::kBudget:
        plan_.budget_bytes = budget_from(lead(words, "budget", "BYTES"));
        next_ = Expected::kAction;
        return;
      case Expected::kAction:
        return parse_action(words);
    }
  }

  void parse_header(const Words& words) {
    LT_REQUIRE(words.size() == 2 && words[0] == "lowtide-plan",
               "not a plan: the first line must be 'lowtide-plan 1'");
    LT_REQUIRE(words[1] == "1", "plan version ", words[1],
               " is not known to this build, which reads version 1");
    next_ = Expected::kPolicy;
  }

  static std::string lead(const Words& words, std::string_view key, std::string_view what) {
    LT_REQUIRE(words.size() == 2 && words[0] == key, "expected '", key, " ", what, "', found '",
               words[0], "'");
    return std::string(words[1]);
  }

  static std::int64_t budget_from(std::string_view word) {
    const auto bytes = base::parse_number<std::int64_t>(word);
    LT_REQUIRE(bytes && *bytes >= 0, "not a number of bytes: '", word, "'");
    return *bytes;
  }

  void parse_action(const Words& words) {
    if (words[0] == "starts") {
      LT_REQUIRE(words.size() == 3, "write: starts STORAGE TIER");
      plan_.starts.push_back({names_.storage(words[1]), names_.tier(words[2])});
    } else if (words[0] == "online") {
      LT_REQUIRE(!plan_.online, "a plan has at most one line 'online'");
      plan_.online = online_from(words);
    } else {
      plan_.actions.push_back(action_from_words(words, names_));
    }
  }

  const Problem& problem_;
  NameTable names_;
  Expected next_ = Expected::kHeader;
  Plan plan_;
};

}  // namespace

Plan parse_text(std::string_view text, const Problem& problem) {
  return Parser(problem).parse(text);
}

}  // namespace lowtide::plan
