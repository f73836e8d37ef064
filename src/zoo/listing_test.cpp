// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "zoo/listing.h"

#include <map>

#include <gtest/gtest.h>
#include <torch/torch.h>

#include "zoo/shapes_only.h"

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
  // Where no paper or torchvision has one: cifar_resnet, lstm and unet follow from the layers'
  // shapes, and bert is the encoder without its pooler, and the head that shares its embedding.
  const std::map<std::string, std::int64_t> published = {
      {"lenet5", 61'706},
      {"alexnet", 61'100'840},
      {"vgg11", 132'863'336},
      {"vgg13", 133'047'848},
      {"vgg16", 138'357'544},
      {"vgg19", 143'667'240},
      {"vgg11_bn", 132'868'840},
      {"vgg13_bn", 133'053'736},
      {"vgg16_bn", 138'365'992},
      {"vgg19_bn", 143'678'248},
      {"resnet18", 11'689'512},
      {"resnet34", 21'797'672},
      {"resnet50", 25'557'032},
      {"resnet101", 44'549'160},
      {"resnet152", 60'192'808},
      {"cifar_resnet20", 269'722},
      {"cifar_resnet32", 464'154},
      {"cifar_resnet44", 658'586},
      {"cifar_resnet56", 853'018},
      {"cifar_resnet110", 1'727'962},
      {"cifar_resnet1202", 19'421'274},
      {"densenet121", 7'978'856},
      {"densenet169", 14'149'480},
      {"densenet201", 20'013'928},
      {"googlenet", 13'004'888},
      {"inception_v3", 27'161'264},
      {"inception_v4", 42'679'816},
      {"mobilenet_v2", 3'504'872},
      {"unet", 31'030'658},
      {"lstm", 19'780'400},
      {"vit_ti_16", 5'717'416},
      {"vit_s_16", 22'050'664},
      {"vit_b_16", 86'567'656},
      {"bert_base", 109'514'298},
      {"bert_large", 335'174'458},
      {"gpt2", 124'439'808},
      {"gpt2_medium", 354'823'168},
      {"gpt2_large", 774'030'080},
      {"gpt2_xl", 1'557'611'200},
  };
  for (const auto& [name, count] : published) EXPECT_EQ(row_of(name).parameters, count) << name;
}

TEST(Listing, CountsLessWithoutAuxiliaryHeads) {
  const ShapesOnly shapes_only;
  const ModelOptions without = {.auxiliary = false};
  EXPECT_EQ(parameter_count(*make_model("googlenet", without).module), 6'624'904);
  EXPECT_EQ(parameter_count(*make_model("inception_v3", without).module), 23'834'568);
}

TEST(Listing, HasEveryModel) { EXPECT_EQ(list_models().size(), catalogue().size()); }

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
