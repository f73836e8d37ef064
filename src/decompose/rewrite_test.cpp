// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "decompose/rewrite.h"

#include <sstream>

#include <ATen/autocast_mode.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include "decompose/factors.h"
#include "decompose/stand_in.h"
#include "lowtide/errors.h"

namespace lowtide::decompose {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

double distance(const at::Tensor& a, const at::Tensor& b) {
  return ((a - b).norm() / b.norm()).item<double>();
}

// A model of a user's own: typed members, a Sequential, and weights that are used directly.
struct Net : torch::nn::Module {
  Net() {
    conv = register_module("conv", torch::nn::Conv2d(torch::nn::Conv2dOptions(3, 8, 3).padding(1)));
    rest = register_module(
        "rest", torch::nn::Sequential(
                    torch::nn::Conv2d(
                        torch::nn::Conv2dOptions(8, 12, {3, 2}).stride({2, 1}).dilation({1, 2})),
                    torch::nn::ReLU(), torch::nn::Conv2d(torch::nn::Conv2dOptions(12, 6, 1))));
    wide = register_module("wide", torch::nn::Linear(6, 10));
    narrow = register_module("narrow", torch::nn::Linear(10, 4));
  }
  at::Tensor forward(const at::Tensor& x) {
    const at::Tensor y = rest->forward(conv->forward(x).relu()).mean({2, 3});
    return at::linear(wide->forward(y).relu(), narrow->weight, narrow->bias);
  }
  torch::nn::Conv2d conv{nullptr};
  torch::nn::Sequential rest{nullptr};
  torch::nn::Linear wide{nullptr}, narrow{nullptr};
};

std::shared_ptr<Net> make_net() {
  torch::manual_seed(1);
  auto net = std::make_shared<Net>();
  net->to(at::kDouble);
  return net;
}

at::Tensor pictures() {
  torch::manual_seed(2);
  return at::randn({2, 3, 9, 8}, at::kDouble);
}

std::vector<std::string> names_of(const Net& net) { return net.named_parameters().keys(); }

TEST(Rewrite, AtFullRankTheModelGivesTheSame) {
  for (const bool is_reconstructed : {false, true}) {
    auto net = make_net();
    const at::Tensor before = net->forward(pictures());
    decompose_layer(*net, "conv", {Decomposition::kTucker2, {3, 8}, is_reconstructed});
    decompose_layer(*net, "rest.0", {Decomposition::kTucker2, {8, 12}, is_reconstructed});
    decompose_layer(*net, "rest.2", {Decomposition::kSvd, {6}, is_reconstructed});
    decompose_layer(*net, "wide", {Decomposition::kSvd, {6}, is_reconstructed});
    decompose_layer(*net, "narrow", {Decomposition::kSvd, {4}, is_reconstructed});
    EXPECT_LT(distance(net->forward(pictures()), before), 1e-9);
  }
}

TEST(Rewrite, LayersComputeWhatTheirMergedWeightDoes) {
  struct Case {
    const char* layer;
    LayerForm form;
  };
  const std::vector<Case> cases = {
      {"conv", {Decomposition::kTucker2, {2, 5}}},   {"conv", {Decomposition::kCp3, {7}}},
      {"rest.0", {Decomposition::kTucker2, {3, 4}}}, {"rest.0", {Decomposition::kCp3, {6}}},
      {"rest.0", {Decomposition::kCp4, {6}}},        {"rest.0", {Decomposition::kCp4, {6}, true}},
      {"rest.2", {Decomposition::kSvd, {2}}},        {"wide", {Decomposition::kSvd, {2}}}};
  for (const Case& c : cases) {
    auto net = make_net();
    const at::Tensor exact = net->forward(pictures());
    const DecomposedLayer told = decompose_layer(*net, c.layer, c.form);
    const at::Tensor with_factors = net->forward(pictures());
    EXPECT_GT(distance(with_factors, exact), 1e-6) << to_string(c.form);
    EXPECT_GT(told.relative_error, 0);
    EXPECT_EQ(merge_layers(*net), 1);
    EXPECT_LT(distance(net->forward(pictures()), with_factors), 1e-9) << to_string(c.form);
    EXPECT_EQ(names_of(*net).size(), names_of(*make_net()).size());
  }
}

TEST(Rewrite, PaddingByNameIsTheSame) {
  for (const bool is_same : {true, false}) {
    torch::nn::Conv2dOptions options(4, 4, {3, 4});
    if (is_same) options.padding(torch::kSame);
    torch::nn::Sequential net(torch::nn::Conv2d(options.dilation(2)));
    net->to(at::kDouble);
    const at::Tensor x = at::randn({2, 4, 12, 12}, at::kDouble);
    const at::Tensor before = net->forward(x);
    decompose_layer(*net, "0", {Decomposition::kTucker2, {4, 4}});
    EXPECT_LT(distance(net->forward(x), before), 1e-9);
  }
}

TEST(Rewrite, FactorsTakeTheWeightsPlaceAmongTheParameters) {
  auto net = make_net();
  decompose_layer(*net, "conv", {Decomposition::kTucker2, {2, 3}});
  decompose_layer(*net, "wide", {Decomposition::kSvd, {2}});
  EXPECT_THAT(
      names_of(*net),
      ElementsAre("conv.weight_in", "conv.weight_core", "conv.weight_out", "conv.bias",
                  "rest.0.weight", "rest.0.bias", "rest.2.weight", "rest.2.bias", "wide.weight_in",
                  "wide.weight_out", "wide.bias", "narrow.weight", "narrow.bias"));
  const std::vector<LayerInfo> layers = list_layers(*net);
  EXPECT_EQ(layers[0].form, (LayerForm{Decomposition::kTucker2, {2, 3}}));
  EXPECT_EQ(layers[0].parameters, 2 * 3 + 2 * 3 * 9 + 3 * 8);
}

TEST(Rewrite, FactorsAreTrained) {
  auto net = make_net();
  decompose_layer(*net, "conv", {Decomposition::kTucker2, {2, 4}});
  decompose_layer(*net, "rest.0", {Decomposition::kCp3, {5}});
  decompose_layer(*net, "wide", {Decomposition::kSvd, {3}, true});
  torch::optim::SGD optimizer(net->parameters(), 0.05);
  const auto loss = [&] { return net->forward(pictures()).square().mean(); };
  const double before = loss().item<double>();
  for (int i = 0; i < 20; ++i) {
    optimizer.zero_grad();
    loss().backward();
    for (const auto& item : net->named_parameters()) {
      EXPECT_TRUE(item.value().grad().defined()) << item.key();
    }
    optimizer.step();
  }
  EXPECT_LT(loss().item<double>(), 0.8 * before);
}

TEST(Rewrite, ASavedStateIsLoadedIntoTheSameForm) {
  auto net = make_net(), other = make_net();
  decompose_layer(*net, "conv", {Decomposition::kTucker2, {2, 4}});
  prepare_layer(*other, "conv", {Decomposition::kTucker2, {2, 4}});
  EXPECT_GT(distance(other->forward(pictures()), net->forward(pictures())), 1e-3);
  std::stringstream stream;
  torch::save(net, stream);
  torch::load(other, stream);
  EXPECT_TRUE(at::equal(other->forward(pictures()), net->forward(pictures())));
}

TEST(Rewrite, FactorsMoveToAnotherTypeWithTheModel) {
  auto net = make_net();
  decompose_layer(*net, "conv", {Decomposition::kTucker2, {2, 4}});
  net->to(at::kFloat);
  EXPECT_EQ(net->forward(pictures().to(at::kFloat)).scalar_type(), at::kFloat);
  // What stands in the weight's place says so, too.
  EXPECT_EQ(net->conv->weight.scalar_type(), at::kFloat);
}

TEST(Rewrite, TheWeightIsOnTheDeviceThatItsFactorsAreOn) {
  auto net = make_net();
  decompose_layer(*net, "conv", {Decomposition::kTucker2, {2, 4}});
  EXPECT_TRUE(net->conv->weight.is_cpu());
  // What a module's to() does for another device; modules do not go to this one, but all machines
  // have it.
  for (const auto& item : net->conv->named_parameters()) {
    const at::Tensor there = item.value().detach().to(at::kMeta);
    item.value().unsafeGetTensorImpl()->shallow_copy_from(there.getIntrusivePtr());
  }
  EXPECT_TRUE(net->conv->weight.is_meta());
  EXPECT_EQ(net->conv->weight.device(), at::Device(at::kMeta));
}

// A subclass with parameters that are called like a weight.
struct Scaled : torch::nn::LinearImpl {
  Scaled() : LinearImpl(6, 5) {
    weight_scale = register_parameter("weight_scale", torch::ones({5}));
  }
  at::Tensor weight_scale;
};

TEST(Rewrite, OtherParametersOfALayerStayWhateverTheyAreCalled) {
  Scaled layer;
  decompose_layer(layer, "", {Decomposition::kSvd, {2}});
  EXPECT_THAT(layer.named_parameters().keys(),
              ElementsAre("weight_in", "weight_out", "bias", "weight_scale"));
  merge_layers(layer);
  EXPECT_THAT(layer.named_parameters().keys(), ElementsAre("weight", "bias", "weight_scale"));
  EXPECT_TRUE(layer.named_parameters()["weight_scale"].is_same(layer.weight_scale));
  layer.register_parameter("weight_out", torch::ones({1}));
  EXPECT_THROW(decompose_layer(layer, "", {Decomposition::kSvd, {2}}), InvalidInput);
  EXPECT_THAT(layer.named_parameters().keys(),
              ElementsAre("weight", "bias", "weight_scale", "weight_out"));
}

TEST(Rewrite, UnderAutocastFactorsAreUsedInSixteenBitsAndTrainedInThirtyTwo) {
  auto net = make_net();
  decompose_layer(*net, "conv", {Decomposition::kTucker2, {2, 4}});
  decompose_layer(*net, "rest.0", {Decomposition::kCp4, {6}});
  decompose_layer(*net, "rest.2", {Decomposition::kSvd, {3}, true});
  decompose_layer(*net, "wide", {Decomposition::kSvd, {3}});
  net->to(at::kFloat);
  const at::Tensor x = pictures().to(at::kFloat);
  const at::Tensor exact = net->forward(x).detach();
  struct Autocast {
    Autocast() { set(true); }
    ~Autocast() {
      set(false);
      at::autocast::clear_cache();
    }
    static void set(bool is_on) {
      at::autocast::set_autocast_dtype(at::kCPU, at::kBFloat16);
      at::autocast::set_autocast_enabled(at::kCPU, is_on);
    }
  };
  at::Tensor given;
  {
    const Autocast autocast;
    given = net->forward(x);
  }
  EXPECT_EQ(given.scalar_type(), at::kBFloat16);
  // Eight bits of mantissa, and some layers.
  EXPECT_LT(distance(given.to(at::kFloat), exact), 0.05);
  EXPECT_GT(distance(given.to(at::kFloat), exact), 0);
  given.to(at::kFloat).square().mean().backward();
  const auto trained = net->named_parameters();
  for (const char* name :
       {"conv.weight_core", "rest.0.weight_column", "rest.2.weight_in", "wide.weight_out"}) {
    const at::Tensor& gradient = trained[name].grad();
    ASSERT_TRUE(gradient.defined()) << name;
    EXPECT_EQ(gradient.scalar_type(), at::kFloat) << name;
    EXPECT_TRUE(at::isfinite(gradient).all().item<bool>()) << name;
    EXPECT_GT(gradient.abs().max().item<float>(), 0) << name;
  }
}

TEST(Rewrite, OtherOperatorsRefuseADecomposedWeight) {
  auto net = make_net();
  decompose_layer(*net, "wide", {Decomposition::kSvd, {3}});
  try {
    static_cast<void>(net->wide->weight + 1);
    FAIL();
  } catch (const InvalidInput& error) {
    EXPECT_THAT(error.what(), HasSubstr("the weight of layer 'wide' is decomposed, and aten::add"));
  }
}

TEST(Rewrite, InputsOfLayersAreObservedAndNothingElseChanges) {
  auto net = make_net();
  const at::Tensor before = net->forward(pictures());
  const auto inputs =
      observe_inputs(*net, [&] { EXPECT_TRUE(at::equal(net->forward(pictures()), before)); });
  EXPECT_EQ(inputs.size(), 5U);
  EXPECT_EQ(inputs.at("conv").sizes, (std::vector<std::int64_t>{2, 3, 9, 8}));
  EXPECT_EQ(inputs.at("narrow").sizes, (std::vector<std::int64_t>{2, 10}));
  EXPECT_FALSE(inputs.at("conv").needs_gradient);
  EXPECT_TRUE(inputs.at("narrow").needs_gradient);
  EXPECT_TRUE(stand_in_of(net->narrow->weight) == nullptr);
  EXPECT_TRUE(at::equal(net->forward(pictures()), before));
}

std::string refusal(torch::nn::Module& model, const std::string& layer, const LayerForm& form) {
  try {
    decompose_layer(model, layer, form);
  } catch (const InvalidInput& error) {
    return error.what();
  }
  return "none";
}

TEST(Rewrite, WhatCannotBeDecomposedIsRefusedWithAReason) {
  const LayerForm svd = {Decomposition::kSvd, {2}}, tucker = {Decomposition::kTucker2, {2, 2}};
  auto net = make_net();
  EXPECT_THAT(refusal(*net, "wid", svd), HasSubstr("did you mean 'wide'"));
  EXPECT_THAT(refusal(*net, "wide", tucker), HasSubstr("layer 'wide': tucker2 is for"));
  decompose_layer(*net, "wide", svd);
  EXPECT_THAT(refusal(*net, "wide", svd), HasSubstr("decomposed already"));
  torch::nn::Sequential grouped(torch::nn::Conv2d(torch::nn::Conv2dOptions(4, 4, 3).groups(2)));
  EXPECT_THAT(refusal(*grouped, "0", tucker), HasSubstr("a grouped convolution (2 groups)"));
  torch::nn::Linear first(4, 4);
  auto tied = std::make_shared<torch::nn::Module>();
  tied->register_module("first", first);
  tied->register_module("again", first);
  EXPECT_THAT(refusal(*tied, "first", svd), HasSubstr("shared with another layer"));
  // Nothing changed.
  EXPECT_TRUE(stand_in_of(first->weight) == nullptr);
}

// A head whose weight is the embedding's, tied as libtorch's users do it: by the member.
struct Tied : torch::nn::Module {
  explicit Tied(bool is_head_the_owner) {
    torch::manual_seed(1);
    embedding = register_module("embedding", torch::nn::Embedding(7, 4));
    head = register_module("head", torch::nn::Linear(4, 7));
    (is_head_the_owner ? embedding->weight : head->weight) =
        is_head_the_owner ? head->weight : embedding->weight;
  }
  torch::nn::Embedding embedding{nullptr};
  torch::nn::Linear head{nullptr};
};

TEST(Rewrite, AWeightThatIsUsedElsewhereStaysWhateverWayItIsTied) {
  const LayerForm svd = {Decomposition::kSvd, {2}};
  for (const bool is_head_the_owner : {true, false}) {
    Tied model(is_head_the_owner);
    EXPECT_THAT(refusal(model, "head", svd), HasSubstr("shared with another layer"));
    EXPECT_TRUE(model.head->weight.is_same(model.embedding->weight));
    EXPECT_THAT(list_layers(model)[0].refusal, HasSubstr("shared"));
  }
  // Two parameters of one memory.
  torch::nn::Sequential same_memory(torch::nn::Linear(4, 4), torch::nn::Linear(4, 4));
  same_memory->ptr(1)->named_parameters()["weight"].set_data(
      same_memory->ptr(0)->named_parameters()["weight"].data());
  EXPECT_THAT(refusal(*same_memory, "0", svd), HasSubstr("shared with another layer"));
}

TEST(Rewrite, LayersOfOtherKindsAreRefusedAsWhatTheyAre) {
  const LayerForm tucker = {Decomposition::kTucker2, {2, 2}};
  torch::nn::Sequential net(torch::nn::ConvTranspose2d(4, 4, 3), torch::nn::Conv1d(4, 4, 3),
                            torch::nn::Conv3d(4, 4, 3));
  EXPECT_THAT(
      refusal(*net, "0", tucker),
      HasSubstr("layer '0' is a torch::nn::ConvTranspose2dImpl, and only Conv2d and Linear"));
  EXPECT_THAT(refusal(*net, "1", tucker), HasSubstr("Conv1d"));
  EXPECT_THAT(refusal(*net, "2", tucker), HasSubstr("Conv3d"));
  EXPECT_TRUE(list_layers(*net).empty());
}

TEST(Rewrite, ABufferThatIsCalledLikeAFactorIsNotWrittenOver) {
  torch::nn::Linear layer(6, 5);
  layer->register_buffer("weight_out", torch::ones({1}));
  EXPECT_THAT(refusal(*layer, "", {Decomposition::kSvd, {2}}),
              HasSubstr("has a parameter or buffer weight_out of its own"));
  EXPECT_THAT(layer->named_parameters().keys(), ElementsAre("weight", "bias"));
}

TEST(Rewrite, WeightsOfAllTypesAreDecomposedInTheirType) {
  for (const at::ScalarType type : {at::kHalf, at::kBFloat16, at::kFloat, at::kDouble}) {
    auto net = make_net();
    net->to(type);
    const DecomposedLayer done = decompose_layer(*net, "conv", {Decomposition::kTucker2, {3, 8}});
    EXPECT_LT(done.relative_error, 0.01) << type;
    EXPECT_EQ(net->named_parameters()["conv.weight_core"].scalar_type(), type);
    EXPECT_EQ(net->conv->weight.scalar_type(), type);
    merge_layers(*net);
    EXPECT_EQ(net->conv->weight.scalar_type(), type);
  }
}

TEST(Rewrite, PointwiseConvolutionsKeepTheirStrideAndPadding) {
  torch::nn::Sequential net(
      torch::nn::Conv2d(torch::nn::Conv2dOptions(6, 5, 1).stride({2, 3}).padding({1, 0})));
  net->to(at::kDouble);
  const at::Tensor x = at::randn({2, 6, 9, 8}, at::kDouble), before = net->forward(x);
  for (const bool is_reconstructed : {false, true}) {
    decompose_layer(*net, "0", {Decomposition::kSvd, {5}, is_reconstructed});
    const at::Tensor with_factors = net->forward(x);
    EXPECT_EQ(with_factors.sizes(), before.sizes());
    EXPECT_LT(distance(with_factors, before), 1e-9);
    merge_layers(*net);
  }
}

TEST(Rewrite, PaddingsOfAllModesAreTheSame) {
  using Mode = torch::nn::detail::conv_padding_mode_t;
  for (const Mode& mode :
       {Mode(torch::kReflect), Mode(torch::kReplicate), Mode(torch::kCircular)}) {
    for (const LayerForm& form :
         {LayerForm{Decomposition::kTucker2, {3, 4}}, LayerForm{Decomposition::kCp3, {5}},
          LayerForm{Decomposition::kCp4, {5}}, LayerForm{Decomposition::kCp4, {5}, true}}) {
      torch::nn::Sequential net(torch::nn::Conv2d(torch::nn::Conv2dOptions(4, 4, {5, 1})
                                                      .padding({2, 0})
                                                      .stride({3, 2})
                                                      .padding_mode(mode)
                                                      .bias(false)));
      net->to(at::kDouble);
      const at::Tensor x = at::randn({2, 4, 11, 9}, at::kDouble);
      decompose_layer(*net, "0", form);
      const at::Tensor with_factors = net->forward(x);
      merge_layers(*net);
      EXPECT_LT(distance(with_factors, net->forward(x)), 1e-9) << to_string(form);
    }
  }
}

TEST(Rewrite, AWeightThatNobodyTrainedIsRefusedUnlessThatIsMeant) {
  torch::manual_seed(1);
  torch::nn::Sequential fresh(torch::nn::Linear(64, 48));
  const LayerForm half = {Decomposition::kSvd, {16}};
  EXPECT_THAT(refusal(*fresh, "0", half),
              HasSubstr("layer '0': the weight looks untrained: nothing of it stands out of random "
                        "numbers, so svd 16 loses what there is"));
  EXPECT_EQ(list_layers(*fresh)[0].form, LayerForm{});
  // At full rank nothing is lost.
  decompose_layer(*fresh, "0", {Decomposition::kSvd, {48}});
  merge_layers(*fresh);
  const DecomposedLayer done = decompose_layer(*fresh, "0", half, UntrainedWeights::kTaken);
  EXPECT_GT(done.relative_error, 0.5);
  EXPECT_EQ(list_layers(*fresh)[0].form, half);
}

}  // namespace
}  // namespace lowtide::decompose
