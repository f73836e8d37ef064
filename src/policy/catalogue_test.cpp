// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <iterator>
#include <set>
#include <sstream>

#include <gtest/gtest.h>

#include "lowtide/errors.h"
#include "lowtide/policy.h"
#include "sim/test_step.h"

namespace lowtide {
namespace {

// The message with which a policy refuses options; empty if it takes them.
std::string refusal_of(const PolicyInfo& row, const PolicyOptions& options) {
  try {
    row.make(options);
  } catch (const InvalidInput& error) {
    return error.what();
  }
  return "";
}

// What a policy says it has when asked for an option that it has not.
std::set<std::string> options_it_reads(const PolicyInfo& row) {
  const std::string message = refusal_of(row, {{"no_such_option", "1"}});
  std::string list = message.substr(message.find("; it has ") + 9);
  std::replace(list.begin(), list.end(), ',', ' ');
  std::istringstream words(list);
  std::set<std::string> names{std::istream_iterator<std::string>(words), {}};
  names.erase("none");
  return names;
}

TEST(Catalogue, NamesAreUniqueAndFindTheirRow) {
  std::set<std::string> names;
  for (const PolicyInfo& row : catalogue()) {
    EXPECT_TRUE(names.insert(row.name).second) << row.name;
    EXPECT_EQ(&policy_named(row.name), &row);
  }
  EXPECT_EQ(names.size(), catalogue().size());
}

TEST(Catalogue, HasThePoliciesToStartWith) {
  for (const char* name :
       {"keep_all", "evict_all", "sublinear", "capuchin", "dtr", "lru", "random", "tide"}) {
    EXPECT_NO_THROW(policy_named(name)) << name;
  }
}

TEST(Catalogue, AnUnknownNameIsRefusedWithTheKnownOnes) {
  try {
    policy_named("dtrr");
    ADD_FAILURE() << "not refused";
  } catch (const InvalidInput& error) {
    const std::string message = error.what();
    EXPECT_EQ(message.rfind("unknown policy 'dtrr'; known are keep_all, ", 0), 0U) << message;
    for (const PolicyInfo& row : catalogue()) {
      EXPECT_NE(message.find(row.name), std::string::npos) << row.name;
    }
  }
}

TEST(Catalogue, WhatIsNoPolicyIsRefusedWithWhatToDo) {
  try {
    policy_named("ctdr");
    ADD_FAILURE() << "not refused";
  } catch (const InvalidInput& error) {
    EXPECT_NE(std::string(error.what()).find("'lowtide decompose MODEL --budget SIZE"),
              std::string::npos)
        << error.what();
  }
}

TEST(Catalogue, EveryRowIsDocumented) {
  const std::set<std::string> mechanisms{"none", "recompute", "swap", "recompute+swap", "place"};
  for (const PolicyInfo& row : catalogue()) {
    EXPECT_FALSE(row.summary.empty()) << row.name;
    EXPECT_TRUE(mechanisms.contains(row.mechanisms)) << row.name << ": " << row.mechanisms;
    EXPECT_FALSE(row.does_well.empty()) << row.name;
    EXPECT_FALSE(row.does_badly.empty()) << row.name;
    EXPECT_FALSE(row.why.empty()) << row.name;
    for (const OptionInfo& option : row.options) {
      EXPECT_FALSE(option.help.empty()) << row.name << ' ' << option.name;
      EXPECT_FALSE(option.default_value.empty()) << row.name << ' ' << option.name;
    }
  }
}

TEST(Catalogue, SaysWhoCarriesPlansOut) {
  for (const char* name : {"swapadvisor", "best_fit", "pushdown"}) {
    EXPECT_FALSE(policy_named(name).executable) << name;
  }
  // Only some of their plans ask for more than the engine has.
  for (const char* name : {"vdnn", "modnn", "zero_offload", "sentinel", "checkmate", "tide"}) {
    EXPECT_TRUE(policy_named(name).executable) << name;
  }
}

TEST(Catalogue, NeedsAreNamedOnce) {
  for (const PolicyInfo& row : catalogue()) {
    std::set<Need> needs;
    for (const PolicyNeed& need : row.needs) {
      EXPECT_TRUE(needs.insert(need.need).second) << row.name << ' ' << to_string(need.need);
      EXPECT_FALSE(to_string(need.need).empty());
    }
  }
}

TEST(Catalogue, PublishedPoliciesNameTheirPaper) {
  for (const char* name : {"sublinear", "dtr", "capuchin"}) {
    EXPECT_FALSE(policy_named(name).paper.empty()) << name;
  }
}

TEST(Catalogue, ListsExactlyTheOptionsThatEachPolicyReads) {
  for (const PolicyInfo& row : catalogue()) {
    std::set<std::string> listed;
    for (const OptionInfo& option : row.options) {
      EXPECT_TRUE(listed.insert(option.name).second) << row.name << ' ' << option.name;
    }
    EXPECT_EQ(listed, options_it_reads(row)) << row.name;
  }
}

TEST(Catalogue, PoliciesTakeTheirDefaults) {
  for (const PolicyInfo& row : catalogue()) {
    PolicyOptions defaults;
    EXPECT_EQ(refusal_of(row, {}), "") << row.name;
    for (const OptionInfo& option : row.options) defaults[option.name] = option.default_value;
    EXPECT_EQ(refusal_of(row, defaults), "") << row.name;
  }
}

// Ops between which capuchin can hide a copy, and values of all sizes that can be replayed.
constexpr std::string_view kStep = R"(
storage w 1 parameter start end
storage a 10 activation
storage b 4 activation
storage c 3 activation
storage t 20 activation
storage d 1 activation end
op fa forward device=5 : w -> a
op fb forward device=1 : w -> b
op fc forward device=30 : a b -> c
op peak forward device=30 : w -> t
op cool backward device=30 : w ->
op g backward : c -> d
op h backward : a b d -> d
)";

TEST(Catalogue, ListedDefaultsAreWhatPoliciesDoWithoutOptions) {
  for (const PolicyInfo& row : catalogue()) {
    PolicyOptions defaults;
    for (const OptionInfo& option : row.options) defaults[option.name] = option.default_value;
    for (std::int64_t budget = 10; budget <= 40; ++budget) {
      const sim::TestStep step(kStep, budget);
      const PlanOutcome plain = row.make({})->plan(step.problem);
      const PlanOutcome listed = row.make(defaults)->plan(step.problem);
      ASSERT_EQ(plain.index(), listed.index()) << row.name << ' ' << budget;
      if (const auto* refusal = std::get_if<Refusal>(&plain)) {
        EXPECT_EQ(refusal->smallest_budget_bytes, std::get<Refusal>(listed).smallest_budget_bytes);
      } else {
        EXPECT_EQ(std::get<Plan>(plain).actions, std::get<Plan>(listed).actions)
            << row.name << ' ' << budget;
      }
    }
  }
}

template <class ActionType>
bool has_any(const Plan& plan) {
  return std::any_of(plan.actions.begin(), plan.actions.end(), [](const Action& action) {
    return std::holds_alternative<ActionType>(action);
  });
}

// It may drop what nobody reads again.
void expect_only_swaps(const PolicyInfo& row, const PolicyOptions& options) {
  for (std::int64_t budget = 10; budget <= 40; ++budget) {
    const PlanOutcome outcome = row.make(options)->plan(sim::TestStep(kStep, budget).problem);
    const auto* plan = std::get_if<Plan>(&outcome);
    EXPECT_FALSE(plan != nullptr && has_any<lowtide::Run>(*plan)) << row.name << ' ' << budget;
  }
}

void expect_only_recomputes(const PolicyInfo& row, const PolicyOptions& options) {
  for (std::int64_t budget = 10; budget <= 40; ++budget) {
    const PlanOutcome outcome = row.make(options)->plan(sim::TestStep(kStep, budget).problem);
    const auto* plan = std::get_if<Plan>(&outcome);
    EXPECT_FALSE(plan != nullptr && (has_any<Move>(*plan) || !plan->starts.empty()))
        << row.name << ' ' << budget;
  }
}

TEST(Catalogue, WhatDoesOneThingDoesNotDoTheOther) {
  for (const PolicyInfo& row : catalogue()) {
    if (row.mechanisms == "swap") expect_only_swaps(row, {});
    if (row.mechanisms == "recompute") expect_only_recomputes(row, {});
    if (row.only_swaps) expect_only_swaps(row, *row.only_swaps);
    if (row.only_recomputes) expect_only_recomputes(row, *row.only_recomputes);
  }
}

TEST(Catalogue, PoliciesRefuseWhatTheyDoNotKnowByName) {
  for (const PolicyInfo& row : catalogue()) {
    EXPECT_EQ(refusal_of(row, {{"no_such_option", "1"}})
                  .rfind("policy " + row.name + " has no option 'no_such_option'; it has ", 0),
              0U)
        << row.name;
    for (const OptionInfo& option : row.options) {
      const std::string message = refusal_of(row, {{option.name, "?"}});
      EXPECT_EQ(message.rfind("option " + option.name + " of policy " + row.name + " takes ", 0),
                0U)
          << message;
    }
  }
}

}  // namespace
}  // namespace lowtide
