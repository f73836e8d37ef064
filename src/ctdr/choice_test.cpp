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

// The plain step takes 10 s and 1000 bytes.
std::vector<LayerChoice> ranked() {
  return rank_choices(
      {layer("slower", 1, {option(2, 10, 0)}),  // worth -0.1 + 0.01
       layer("harmful", 4, {option(2, 0, 2)}),  // 0.2 for a rise of 2
       layer("grouped", 1, {}), layer("good", 3, {option(2, 0, 0.1), option(1, 0, 0.1, 1)})},
      10, 1000);
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
      {layer("slower", 1, {option(2, 0, 0)}), layer("good", 3, {option(2, 0, 0)})}, 10, 1000);
  const auto chosen = [&](std::map<std::set<std::string>, double> seconds) {
    const Choice choice = *choose(layers, false, judge_forms_by(std::move(seconds)));
    return choice.trials[*choice.chosen].forms;
  };
  EXPECT_EQ(chosen({{{}, 10}, {{"good 2"}, 8}, {{"good 2", "slower 2"}, 6}}).size(), 2U);
  EXPECT_EQ(chosen({{{}, 10}, {{"good 2"}, 8}, {{"good 2", "slower 2"}, 9}}).size(), 1U);
  // A plan that costs nothing could not get better by it, and nobody looks.
  EXPECT_EQ(chosen({{{}, 10}, {{"good 2"}, 5}, {{"good 2", "slower 2"}, 1}}).size(), 1U);
}

TEST(Choose, AnotherFormIsTakenIfItIsQuickerOrHalfAsHarmful) {
  struct Case {
    double seconds_of_other;
    double rise_of_other;
    std::int64_t rank;
  };
  for (const Case& c : {Case{6, 1, 4}, Case{8.05, 0.4, 4}, Case{8.05, 0.6, 2}, Case{9, 0.1, 2}}) {
    const std::vector<LayerChoice> layers = rank_choices(
        {layer("good", 3, {option(2.5, 0, c.rise_of_other, 4), option(2, 0, 1, 2)})}, 10, 1000);
    const Choice choice =
        *choose(layers, false,
                judge_forms_by({{{}, 10}, {{"good 2"}, 8}, {{"good 4"}, c.seconds_of_other}}));
    EXPECT_EQ(choice.trials[*choice.chosen].forms.at("good").ranks[0], c.rank);
    // The table tells of what was taken.
    EXPECT_EQ(choice.layers[0].option->form.ranks[0], c.rank);
    EXPECT_NEAR(choice.layers[0].worth, c.rank == 4 ? 0.05 : 0.1, 1e-12);
  }
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
      {layer("good", 3, {option(2, 0, 1, 2), option(2.5, 0, 0.1, 4), option(2.6, 0, 0.1, 6)})}, 10,
      1000);
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
