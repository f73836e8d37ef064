// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include <map>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include "lowtide/decompose.h"
#include "lowtide/errors.h"

namespace lowtide {
namespace {

using ::testing::HasSubstr;
using State = std::map<std::string, at::Tensor>;

double distance(const at::Tensor& a, const at::Tensor& b) {
  return ((a - b).norm() / b.norm()).item<double>();
}

torch::nn::Sequential make_net(std::uint64_t seed) {
  torch::manual_seed(seed);
  torch::nn::Sequential net(torch::nn::Conv2d(torch::nn::Conv2dOptions(3, 8, 3)),
                            torch::nn::BatchNorm2d(8), torch::nn::Flatten(),
                            torch::nn::Linear(8 * 4 * 4, 10));
  net->to(at::kDouble);
  net->eval();
  return net;
}

at::Tensor pictures() {
  torch::manual_seed(9);
  return at::randn({2, 3, 6, 6}, at::kDouble);
}

const LayerForm kConv = {Decomposition::kTucker2, {2, 4}}, kLinear = {Decomposition::kSvd, {5}};

torch::nn::Sequential make_decomposed(std::uint64_t seed) {
  auto net = make_net(seed);
  decompose_layer(*net, "0", kConv);
  decompose_layer(*net, "3", kLinear);
  return net;
}

State state_of(const torch::nn::Module& model) {
  State state;
  for (const auto& item : model.named_parameters()) state[item.key()] = item.value();
  for (const auto& item : model.named_buffers()) state[item.key()] = item.value();
  return state;
}

TEST(State, OfADecomposedModelIsLoadedIntoADenseOneAsWeights) {
  auto decomposed = make_decomposed(1), dense = make_net(2);
  const State state = dense_state(*decomposed);
  EXPECT_EQ(state.size(), state_of(*dense).size());
  load_state(*dense, state);
  EXPECT_LT(distance(dense->forward(pictures()), decomposed->forward(pictures())), 1e-12);
  // The one it came from is as it was.
  EXPECT_EQ(list_layers(*decomposed)[0].form, kConv);
}

TEST(State, OfADenseModelIsDecomposedOnItsWayIn) {
  auto dense = make_net(1), decomposed = make_decomposed(2);
  load_state(*decomposed, state_of(*dense));
  auto expected = make_decomposed(1);
  EXPECT_TRUE(at::equal(decomposed->forward(pictures()), expected->forward(pictures())));
  EXPECT_EQ(list_layers(*decomposed)[1].form, kLinear);
}

TEST(State, GivesADenseModelItsForms) {
  auto decomposed = make_decomposed(1), dense = make_net(2);
  decompose_layer(*dense, "3", {Decomposition::kSvd, {7}});
  load_state(*dense, state_of(*decomposed));
  EXPECT_EQ(list_layers(*dense)[0].form, kConv);
  EXPECT_EQ(list_layers(*dense)[1].form, kLinear);
  EXPECT_TRUE(at::equal(dense->forward(pictures()), decomposed->forward(pictures())));
}

TEST(State, AllFormsAreKnownByTheirFactors) {
  for (const LayerForm& form :
       {kConv, LayerForm{Decomposition::kCp3, {5}}, LayerForm{Decomposition::kCp4, {6}}}) {
    auto one = make_net(1), other = make_net(2);
    decompose_layer(*one, "0", form);
    load_state(*other, state_of(*one));
    EXPECT_EQ(list_layers(*other)[0].form, form);
    EXPECT_TRUE(at::equal(other->forward(pictures()), one->forward(pictures())));
  }
}

TEST(State, OnlyTheFactorsOfAFormThatIsThereAreWritten) {
  auto net = make_net(1), other = make_net(2);
  decompose_layer(*net, "3", {Decomposition::kSvd, {5}, true});
  decompose_layer(*other, "3", kLinear);
  load_state(*net, state_of(*other));
  // Whether the weight is put together in each step is the model's own affair.
  EXPECT_TRUE(list_layers(*net)[1].form.is_reconstructed);
}

std::string refusal(torch::nn::Module& model, const State& state) {
  try {
    load_state(model, state);
  } catch (const InvalidInput& error) {
    return error.what();
  }
  return "none";
}

TEST(State, WhatDoesNotFitIsNamed) {
  auto net = make_decomposed(1);
  State state = state_of(*make_net(2));
  state["3.weight"] = at::ones({10, 9});
  EXPECT_THAT(refusal(*net, state), HasSubstr("3.weight has the sizes [10, 9] in the state"));
  state["3.weight"] = at::zeros({10, 128});
  EXPECT_THAT(refusal(*net, state), HasSubstr("layer '3': the weight is all zeros"));
  state = state_of(*make_net(2));
  state["4.weight"] = at::ones({1});
  EXPECT_THAT(refusal(*net, state), HasSubstr("the model has no 4.weight"));
  state = state_of(*make_net(2));
  state.erase("3.bias");
  EXPECT_THAT(refusal(*net, state), HasSubstr("the weights have no 3.bias"));
  state = state_of(*make_decomposed(2));
  state["3.weight_in"] = at::ones({4, 128});
  EXPECT_THAT(refusal(*net, state), HasSubstr("the factors of layer '3' in the state do not go"));
}

TEST(State, WhatDoesNotFitChangesNothing) {
  const State whole = state_of(*make_decomposed(2));
  std::vector<State> broken(4, whole);
  broken[0].erase("3.bias");
  broken[1]["3.bias"] = at::ones({9});
  broken[2]["4.weight"] = at::ones({1});
  // The other layer's are whole.
  broken[3].erase("3.weight_out");
  for (const State& state : broken) {
    // A dense one, and one with other forms.
    for (const bool is_dense : {true, false}) {
      auto net = make_net(1);
      if (!is_dense) decompose_layer(*net, "0", {Decomposition::kCp3, {5}});
      const at::Tensor before = net->forward(pictures());
      const LayerForm form = list_layers(*net)[0].form;
      EXPECT_NE(refusal(*net, state), "none");
      EXPECT_EQ(list_layers(*net)[0].form, form);
      EXPECT_TRUE(at::equal(net->forward(pictures()), before));
    }
  }
}

TEST(State, OfALayerThatCannotBeDecomposedIsRefused) {
  torch::nn::Linear shared(128, 10);
  torch::nn::Sequential net(torch::nn::Flatten(), shared, shared);
  const State state = {{"1.weight_in", at::ones({5, 128})}, {"1.weight_out", at::ones({10, 5})}};
  EXPECT_THAT(refusal(*net, state), HasSubstr("layer '1': its weight is shared"));
  EXPECT_EQ(list_layers(*net)[0].form, LayerForm{});
}

}  // namespace
}  // namespace lowtide
