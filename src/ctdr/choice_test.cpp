// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "ctdr/choice.h"

#include <map>
#include <set>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lowtide/errors.h"

namespace lowtide::ctdr {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

Option option(double seconds, std::int64_t bytes_saved, double loss_rise, std::int64_t rank = 2) {
  return {.form = {Decomposition::kSvd, {rank}},
          .seconds = seconds,
          .state_bytes_saved = bytes_saved,
          .loss_rise = loss_rise};
}

LayerOptions layer(const std::string& name, double dense_seconds, std::vector<Option> options) {
  LayerOptions result;
  result.info.name = name;
  result.dense_seconds = dense_seconds;
  result.options = std::move(options);
  if (result.options.empty()) result.reason = "a grouped convolution";
  return result;
}

std::vector<std::string> names_of(const std::vector<LayerChoice>& choices) {
  std::vector<std::string> names;
  for (const LayerChoice& choice : choices) names.push_back(choice.layer);
  return names;
}

// The plain step takes 10 s and 1000 bytes, and nobody has a plan.
Judgement plain() { return {.plain_peak_bytes = 1000, .plain_seconds = 10}; }

std::vector<LayerChoice> ranked() {
  return rank_choices(
      {layer("slower", 1, {option(2, 10, 0)}),  // worth -0.1 + 0.01
       layer("harmful", 4, {option(2, 0, 2)}),  // 0.2 for a rise of 2
       layer("grouped", 1, {}), layer("good", 3, {option(2, 0, 0.1), option(1, 0, 0.1, 1)})},
      plain());
}

TEST(RankChoices, WorthForHarmComesFirstAndWhatDoesNotPayLast) {
  const std::vector<LayerChoice> choices = ranked();
  EXPECT_THAT(names_of(choices), ElementsAre("good", "harmful", "slower", "grouped"));
  EXPECT_EQ(choices[0].option->form.ranks, std::vector<std::int64_t>{1});
  EXPECT_NEAR(choices[0].worth, 0.2, 1e-12);
  EXPECT_THAT(choices[2].reason, HasSubstr("does not pay: 2.00 of the dense layer's time"));
  EXPECT_EQ(choices[3].reason, "a grouped convolution");
}

// Seconds of the step for sets of layers; one that is not listed does not fit.
Judge judge_by(std::map<std::set<std::string>, double> seconds) {
  return [seconds = std::move(seconds)](const Forms& forms) -> std::optional<Judgement> {
    std::set<std::string> names;
    for (const auto& [name, form] : forms) names.insert(name);
    Judgement result;
    result.smallest_budget_bytes = 100;
    if (seconds.contains(names)) result.planned_seconds = seconds.at(names);
    return result;
  };
}

std::set<std::string> chosen_by(std::map<std::set<std::string>, double> seconds) {
  const Choice choice = *choose(ranked(), false, judge_by(std::move(seconds)));
  if (!choice.chosen) return {"none fits"};
  std::set<std::string> names;
  for (const auto& [name, form] : choice.trials[*choice.chosen].forms) names.insert(name);
  return names;
}

using Names = std::set<std::string>;
const Names kDense = {}, kGood = {"good"}, kHarmful = {"harmful"}, kBoth = {"good", "harmful"};

TEST(Choose, TakesTheQuickestThatFits) {
  EXPECT_EQ(chosen_by({{kDense, 10}, {kGood, 8}, {kBoth, 6}}), kBoth);
  EXPECT_EQ(chosen_by({{kDense, 10}, {kGood, 8}}), kGood);
  EXPECT_EQ(chosen_by({{kBoth, 12}}), kBoth);
  EXPECT_EQ(chosen_by({}), Names{"none fits"});
}

TEST(Choose, ALayerThatSpoilsTheOthersIsLeftOut) {
  EXPECT_EQ(chosen_by({{kDense, 10}, {kGood, 15}, {kBoth, 14}, {kHarmful, 9}}), kHarmful);
}

TEST(Choose, LeavesLayersDenseThatGainLessThanNoise) {
  EXPECT_EQ(chosen_by({{kDense, 10}, {kGood, 9.9}, {kHarmful, 9.9}, {kBoth, 9.85}}), kDense);
  EXPECT_EQ(chosen_by({{kDense, 10}, {kGood, 8}, {kBoth, 7.95}}), kGood);
}

// Seconds of the step by "layer rank" of the decomposed ones.
Judge judge_forms_by(std::map<std::set<std::string>, double> seconds) {
  return [seconds = std::move(seconds)](const Forms& forms) -> std::optional<Judgement> {
    std::set<std::string> names;
    for (const auto& [name, form] : forms) names.insert(name + to_string(form).substr(3));
    Judgement result;
    result.plain_seconds = 5;
    if (seconds.contains(names)) result.planned_seconds = seconds.at(names);
    return result;
  };
}

TEST(Choose, ALayerThatDoesNotPayByItselfIsTakenForThePlan) {
  const std::vector<LayerChoice> layers = rank_choices(
      {layer("slower", 1, {option(2, 0, 0)}), layer("good", 3, {option(2, 0, 0)})}, plain());
  const auto chosen = [&](std::map<std::set<std::string>, double> seconds) {
    const Choice choice = *choose(layers, false, judge_forms_by(std::move(seconds)));
    return choice.trials[*choice.chosen].forms;
  };
  EXPECT_EQ(chosen({{{}, 10}, {{"good 2"}, 8}, {{"good 2", "slower 2"}, 6}}).size(), 2U);
  EXPECT_EQ(chosen({{{}, 10}, {{"good 2"}, 8}, {{"good 2", "slower 2"}, 9}}).size(), 1U);
  // A plan that costs nothing could not get better by it, and nobody looks.
  EXPECT_EQ(chosen({{{}, 10}, {{"good 2"}, 5}, {{"good 2", "slower 2"}, 1}}).size(), 1U);
}

TEST(RankChoices, BytesAreWorthWhatTheBudgetCosts) {
  // 500 bytes are missing, and without them a step takes 20 s more.
  Judgement tight = plain();
  tight.planned_seconds = 30;
  tight.smallest_budget_bytes = 500;
  const std::vector<LayerOptions> layers = {layer("slower", 1, {option(2, 50, 0)})};
  EXPECT_NEAR(rank_choices(layers, tight)[0].worth, (50 * 20.0 / 500 - 1) / 10, 1e-12);
  // Where the plan costs nothing they are worth nothing.
  tight.planned_seconds = 10;
  EXPECT_NEAR(rank_choices(layers, tight)[0].worth, -0.1, 1e-12);
  EXPECT_NEAR(rank_choices(layers, plain())[0].worth, (50 * 0.01 - 1) / 10, 1e-12);
}

TEST(Choose, AnotherFormIsTakenIfItIsQuickerOrAsQuickAndMilder) {
  struct Case {
    double seconds_of_other;
    double rise_of_other;
    std::int64_t rank;
  };
  for (const Case& c : {Case{6, 1.5, 4}, Case{8.05, 0.6, 4}, Case{8.05, 1.5, 2}, Case{9, 0.1, 2}}) {
    const std::vector<LayerChoice> layers = rank_choices(
        {layer("good", 3, {option(2.1, 0, c.rise_of_other, 4), option(2, 0, 1, 2)})}, plain());
    const Choice choice =
        *choose(layers, false,
                judge_forms_by({{{}, 10}, {{"good 2"}, 8}, {{"good 4"}, c.seconds_of_other}}));
    EXPECT_EQ(choice.trials[*choice.chosen].forms.at("good").ranks[0], c.rank)
        << c.seconds_of_other << " s, " << c.rise_of_other;
    // The table tells of what was taken.
    EXPECT_EQ(choice.layers[0].option->form.ranks[0], c.rank);
    EXPECT_NEAR(choice.layers[0].worth, c.rank == 4 ? 0.09 : 0.1, 1e-12);
  }
}

// "big" gives nearly all of the time, "harmful" and "sensitive" hardly any, for most of the harm.
std::vector<LayerChoice> uneven() {
  return rank_choices(
      {layer("big", 5, {option(1, 0, 0.01)}), layer("harmful", 1, {option(0.95, 0, 1)}),
       layer("sensitive", 1, {option(0.98, 0, 0.5)})},
      plain());
}

const Names kAll = {"big", "harmful", "sensitive"};

std::set<std::string> chosen_of_uneven(std::map<std::set<std::string>, double> seconds) {
  const Choice choice = *choose(uneven(), false, judge_by(std::move(seconds)));
  std::set<std::string> names;
  for (const auto& [name, form] : choice.trials[*choice.chosen].forms) names.insert(name);
  return names;
}

TEST(Choose, OfSetsThatAreAsQuickTheOneThatDoesTheLeastHarm) {
  const Names two = {"big", "harmful"}, other_two = {"big", "sensitive"};
  EXPECT_EQ(chosen_of_uneven({{kDense, 10}, {kAll, 5.9}, {two, 6.1}, {{"big"}, 6.0}}),
            Names{"big"});
  // One of them is needed, so only the other is dense.
  EXPECT_EQ(
      chosen_of_uneven({{kDense, 10}, {kAll, 5.9}, {two, 6.1}, {{"big"}, 6.2}, {other_two, 5.95}}),
      other_two);
  // Both are.
  EXPECT_EQ(
      chosen_of_uneven({{kDense, 10}, {kAll, 5.9}, {two, 6.1}, {{"big"}, 6.2}, {other_two, 6.1}}),
      kAll);
  // What is left has to be worth it.
  EXPECT_EQ(chosen_of_uneven({{kDense, 6.08}, {kAll, 5.9}, {two, 6.1}, {{"big"}, 6.0}}), kAll);
}

TEST(Choose, EverywhereAsksNotWhatPays) {
  const std::optional<Choice> choice =
      choose(ranked(), true, judge_by({{kDense, 10}, {{"good", "harmful", "slower"}, 20}}));
  EXPECT_EQ(choice->trials.size(), 2U);
  EXPECT_EQ(choice->chosen, 1U);
  EXPECT_EQ(choice->trials[1].forms.size(), 3U);
}

TEST(Choose, NoSearchIsBegunOnceEnoughSetsWereLookedAt) {
  const std::vector<LayerChoice> layers = rank_choices(
      {layer("good", 3, {option(2, 0, 1, 2), option(2.5, 0, 0.1, 4), option(2.6, 0, 0.1, 6)})},
      plain());
  for (const std::size_t most : {2U, 3U, 4U}) {
    const Choice choice = *choose(
        layers, false,
        judge_forms_by({{{}, 10}, {{"good 2"}, 8}, {{"good 4"}, 7}, {{"good 6"}, 6}}), most);
    EXPECT_EQ(choice.trials.size(), most);
    EXPECT_EQ(*choice.chosen, most - 1);
  }
}

TEST(Choose, EndsWhenTheUserStopsIt) {
  EXPECT_FALSE(choose(ranked(), false, [](const Forms&) { return std::nullopt; }));
}

}  // namespace
}  // namespace lowtide::ctdr
