// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "run/torch/capture_layers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lowtide::run {
namespace {

using testing::ElementsAre;

struct TestOp {
  Phase phase;
  std::vector<int> arguments;
  std::vector<int> writes;
  std::uint64_t node;
};

// Storages 0 to 3 belong to layers, the others to nobody.
constexpr Phase kForward = Phase::kForward;
constexpr Phase kBackward = Phase::kBackward;
const std::vector<std::string> kStorageLayers = {
    "block.conv", "block.norm", "head", "block.conv2", "", "", "", "", "", ""};

std::vector<std::string> layers(const std::vector<TestOp>& ops) {
  std::vector<Capture::OpEvent> events;
  std::vector<Phase> phases;
  for (const TestOp& op : ops) {
    Capture::OpEvent event;
    for (const int i : op.arguments) event.arguments.push_back(StorageId{i});
    for (const int i : op.writes) event.writes.push_back({StorageId{i}});
    event.node = op.node;
    event.is_backward = op.phase == kBackward;
    events.push_back(event);
    phases.push_back(op.phase);
  }
  return layers_of_ops(events, phases, kStorageLayers);
}

TEST(LayersOfOps, AreThoseOfTheParametersThatTheyTake) {
  EXPECT_THAT(layers({{kForward, {4, 0}, {5}, 1},
                      {kForward, {5, 1}, {6}, 2},
                      {kForward, {0, 1}, {7}, 3},
                      {kForward, {0, 3}, {7}, 4},
                      {kForward, {0, 2}, {8}, 5}}),
              ElementsAre("block.conv", "block.norm", "block", "block", ""));
}

TEST(LayersOfOps, WithoutParametersAreThatOfTheNewestArgument) {
  EXPECT_THAT(layers({{kForward, {4}, {9}, 0},
                      {kForward, {4, 0}, {5}, 1},
                      {kForward, {4, 2}, {6}, 2},
                      {kForward, {5}, {7}, 3},
                      {kForward, {5, 6}, {8}, 4},
                      {kForward, {}, {9}, 5},
                      {kForward, {9, 5}, {4}, 6}}),
              ElementsAre("", "block.conv", "head", "block.conv", "head", "head", "head"));
}

TEST(LayersOfOps, WithCopiesOfParametersAreTheLayers) {
  EXPECT_THAT(layers({{kForward, {4, 2}, {8}, 1},
                      {kForward, {0}, {5}, 2},
                      {kForward, {8}, {6}, 3},
                      {kForward, {6, 5}, {7}, 4},
                      {kBackward, {9, 5}, {8}, 77}}),
              ElementsAre("head", "block.conv", "head", "block.conv", "block.conv"));
}

TEST(LayersOfOps, InTheBackwardPassAreThoseOfTheNodesOp) {
  // The second op has no node of its own and sees that of the first.
  EXPECT_THAT(
      layers({{kForward, {4, 0}, {5}, 1},
              {kForward, {4, 2}, {6}, 1},
              {kForward, {6}, {7}, 2},
              {kBackward, {4}, {8}, 2},
              {kBackward, {8}, {9}, 1},
              {kBackward, {8, 1}, {9}, 1},
              {kBackward, {8}, {9}, 77}}),
      ElementsAre("block.conv", "head", "head", "head", "block.conv", "block.norm", "head"));
}

TEST(LayersOfOps, OfTheOptimizerNeedParametersOfOneLayer) {
  EXPECT_THAT(layers({{kForward, {4, 0}, {5}, 1},
                      {Phase::kOptimizer, {0, 5}, {0}, 1},
                      {Phase::kOptimizer, {0, 2}, {0}, 1},
                      {Phase::kOptimizer, {5}, {5}, 1}}),
              ElementsAre("block.conv", "block.conv", "", ""));
}

}  // namespace
}  // namespace lowtide::run
