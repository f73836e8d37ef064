// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "zoo/listing.h"

#include <map>

#include <gtest/gtest.h>
#include <torch/torch.h>

namespace lowtide::zoo {
namespace {

const ModelRow& row_of(const std::string& name) {
  static const std::vector<ModelRow> rows = list_models();
  for (const ModelRow& row : rows) {
    if (row.info.name == name) return row;
  }
  throw std::out_of_range(name);
}

TEST(Listing, HasThePublishedNumbersOfParameters) {
  const std::map<std::string, std::int64_t> published = {
      {"resnet18", 11'689'512},     {"resnet34", 21'797'672},    {"resnet50", 25'557'032},
      {"resnet101", 44'549'160},    {"resnet152", 60'192'808},   {"gpt2", 124'439'808},
      {"gpt2_medium", 354'823'168}, {"gpt2_large", 774'030'080}, {"gpt2_xl", 1'557'611'200},
  };
  for (const auto& [name, count] : published) EXPECT_EQ(row_of(name).parameters, count) << name;
}

TEST(Listing, SaysWhatModelsAreFedWith) {
  EXPECT_EQ(row_of("resnet50").input_text, "3 x 224 x 224");
  EXPECT_EQ(row_of("gpt2").input_text, "1024 tokens of 50257");
}

TEST(Listing, LeavesNoTensorsWithoutMemoryBehind) {
  list_models();
  EXPECT_TRUE(torch::zeros(1).is_cpu());
}

}  // namespace
}  // namespace lowtide::zoo
