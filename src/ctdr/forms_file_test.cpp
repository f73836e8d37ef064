// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "ctdr/forms_file.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>

#include "decompose/rewrite.h"
#include "decompose/stand_in.h"
#include "lowtide/errors.h"

namespace lowtide::ctdr {
namespace {

TEST(FormsFile, IsReadAsItIsWritten) {
  const Forms forms = parse_forms(R"({"conv1": "tucker2 16x24", "fc": "svd 3", "head": "dense"})");
  EXPECT_EQ(forms.size(), 3U);
  EXPECT_EQ(forms.at("conv1"), (LayerForm{Decomposition::kTucker2, {16, 24}}));
  EXPECT_EQ(forms.at("head"), LayerForm{});
  for (const char* text : {"", "[]", "{\"a\": 3}", "{\"a\": \"svd\"}", "{\"a\" \"svd 3\"}"}) {
    EXPECT_THROW(static_cast<void>(parse_forms(text)), InvalidInput) << text;
  }
  EXPECT_THROW(static_cast<void>(read_forms("/nowhere/forms.json")), IoError);
}

TEST(FormsFile, AModelStartsWithFactorsWhoseProductIsAsLargeAsTheWeightWas) {
  torch::manual_seed(1);
  const std::vector<std::pair<std::string, LayerForm>> cases = {
      {"0", {Decomposition::kTucker2, {8, 12}}},
      {"0", {Decomposition::kCp3, {24}}},
      {"0", {Decomposition::kCp4, {24}, true}},
      {"1", {Decomposition::kSvd, {20}}}};
  for (const auto& [layer, form] : cases) {
    torch::nn::Sequential net(torch::nn::Conv2d(16, 24, 3), torch::nn::Linear(60, 80));
    const double before = decompose::weight_of_layer(*net, layer).norm().item<double>();
    forms_starter({{layer, form}, {"none", {}}})(*net);
    EXPECT_EQ(list_layers(*net)[layer == "0" ? 0 : 1].form, form);
    merge_layers(*net);
    const double after = decompose::weight_of_layer(*net, layer).norm().item<double>();
    EXPECT_NEAR(after / before, 1, 0.4) << to_string(form);
  }
}

TEST(FormsFile, WhatALayerCannotHaveIsRefused) {
  torch::nn::Sequential net(torch::nn::Linear(60, 80));
  const auto refusal = [&](const std::string& layer, std::int64_t rank) -> std::string {
    try {
      forms_starter({{layer, {Decomposition::kSvd, {rank}}}})(*net);
    } catch (const InvalidInput& error) {
      return error.what();
    }
    return "none";
  };
  EXPECT_THAT(refusal("0", 70), ::testing::HasSubstr("layer '0': a rank of 70 is not possible"));
  EXPECT_THAT(refusal("1", 7), ::testing::HasSubstr("no convolution or linear layer '1'"));
  EXPECT_EQ(list_layers(*net)[0].form, LayerForm{});
}

}  // namespace
}  // namespace lowtide::ctdr
