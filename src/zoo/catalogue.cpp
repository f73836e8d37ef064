// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "zoo/catalogue.h"

#include <algorithm>
#include <array>
#include <functional>

#include "base/check.h"
#include "base/suggest.h"
#include "zoo/alexnet.h"
#include "zoo/bert.h"
#include "zoo/cifar_resnet.h"
#include "zoo/densenet.h"
#include "zoo/googlenet.h"
#include "zoo/gpt.h"
#include "zoo/inception_v3.h"
#include "zoo/inception_v4.h"
#include "zoo/lenet.h"
#include "zoo/lstm.h"
#include "zoo/mobilenet_v2.h"
#include "zoo/resnet.h"
#include "zoo/small_resnet.h"
#include "zoo/unet.h"
#include "zoo/vgg.h"
#include "zoo/vit.h"

namespace lowtide::zoo {
namespace {

struct Row {
  ModelInfo info;
  std::function<Model(const ModelOptions&)> make;
};
using Rows = std::vector<Row>;

void add_linear_nets(Rows& rows) {
  rows.push_back({{.name = "lenet5",
                   .family = "LeNet",
                   .paper = "LeCun et al. 1998",
                   .options = {"channels", "size", "classes"},
                   .summary = "LeNet-5, for digits"},
                  make_lenet5});
  rows.push_back({{.name = "alexnet",
                   .family = "AlexNet",
                   .paper = "Krizhevsky 2014",
                   .options = {"channels", "size", "classes", "dropout"},
                   .summary = "AlexNet in its form for one GPU"},
                  make_alexnet});
  for (const VggNorm norm : {VggNorm::kNone, VggNorm::kBatch}) {
    const bool has_norm = norm == VggNorm::kBatch;
    for (const int depth : {11, 13, 16, 19}) {
      rows.push_back(
          {{.name = base::concat("vgg", depth, has_norm ? "_bn" : ""),
            .family = "VGG",
            .paper = "Simonyan and Zisserman 2014",
            .options = {"channels", "size", "classes", "dropout"},
            .summary = base::concat("VGG of ", depth, " layers", has_norm ? ", with norms" : "")},
           [=](const ModelOptions& options) { return make_vgg(depth, norm, options); }});
    }
  }
}

void add_residual_nets(Rows& rows) {
  for (const int depth : {18, 34, 50, 101, 152}) {
    rows.push_back({{.name = base::concat("resnet", depth),
                     .family = "ResNet",
                     .paper = "He et al. 2015",
                     .options = {"channels", "size", "classes"},
                     .summary = base::concat("residual net of ", depth, " layers")},
                    [depth](const ModelOptions& options) { return make_resnet(depth, options); }});
  }
  for (const int layers : {20, 32, 44, 56, 110, 1202}) {
    rows.push_back(
        {{.name = base::concat("cifar_resnet", layers),
          .family = "CIFAR ResNet",
          .paper = "He et al. 2015, section 4.2",
          .options = {"channels", "size", "classes", "width"},
          .summary = base::concat("residual net of ", layers, " layers for small pictures")},
         [layers](const ModelOptions& options) { return make_cifar_resnet(layers, options); }});
  }
  rows.push_back(
      {{.name = "cifar_resnet",
        .family = "CIFAR ResNet",
        .paper = "He et al. 2015, section 4.2",
        .options = {"channels", "size", "classes", "layers", "width"},
        .summary = "residual net of 6n+2 layers for small pictures; 20 where nothing is said"},
       [](const ModelOptions& options) { return make_cifar_resnet(20, options); }});
  rows.push_back({{.name = "small_resnet",
                   .family = "CIFAR ResNet",
                   .paper = "after He et al. 2015, section 4.2",
                   .options = {"channels", "size", "classes", "width"},
                   .summary = "residual net for small grey pictures, quick on a CPU"},
                  make_small_resnet});
}

void add_branching_nets(Rows& rows) {
  for (const int depth : {121, 169, 201}) {
    rows.push_back(
        {{.name = base::concat("densenet", depth),
          .family = "DenseNet",
          .paper = "Huang et al. 2016",
          .options = {"channels", "size", "classes", "dropout"},
          .summary = base::concat("densely connected net of ", depth, " layers")},
         [depth](const ModelOptions& options) { return make_densenet(depth, options); }});
  }
  rows.push_back({{.name = "googlenet",
                   .family = "Inception",
                   .paper = "Szegedy et al. 2014",
                   .options = {"channels", "size", "classes", "dropout", "auxiliary"},
                   .summary = "GoogLeNet, with norms"},
                  make_googlenet});
  rows.push_back({{.name = "inception_v3",
                   .family = "Inception",
                   .paper = "Szegedy et al. 2015",
                   .options = {"channels", "size", "classes", "dropout", "auxiliary"},
                   .summary = "Inception-v3"},
                  make_inception_v3});
  rows.push_back({{.name = "inception_v4",
                   .family = "Inception",
                   .paper = "Szegedy et al. 2016",
                   .options = {"channels", "size", "classes", "dropout"},
                   .summary = "Inception-v4"},
                  make_inception_v4});
  rows.push_back({{.name = "mobilenet_v2",
                   .family = "MobileNet",
                   .paper = "Sandler et al. 2018",
                   .options = {"channels", "size", "classes", "dropout"},
                   .summary = "MobileNet-v2"},
                  make_mobilenet_v2});
  rows.push_back({{.name = "unet",
                   .family = "U-Net",
                   .paper = "Ronneberger et al. 2015",
                   .options = {"channels", "size", "classes", "width", "dropout"},
                   .summary = "U-Net: a class for each pixel"},
                  make_unet});
}

void add_lstm(Rows& rows) {
  rows.push_back({{.name = "lstm",
                   .family = "LSTM",
                   .paper = "Zaremba et al. 2014",
                   .options = {"layers", "width", "context", "vocabulary", "dropout"},
                   .summary = "language model of LSTM layers, of the paper's medium size"},
                  make_lstm});
}

void add_vision_transformers(Rows& rows) {
  const auto add = [&rows](const std::string& name, const std::string& paper,
                           const TransformerShape& shape, const std::string& summary) {
    rows.push_back(
        {{.name = name,
          .family = "ViT",
          .paper = paper,
          .options = {"channels", "size", "classes", "layers", "width", "heads", "dropout"},
          .summary = summary},
         [shape](const ModelOptions& options) { return make_vit(shape, options); }});
  };
  // The smaller ones have the shapes of DeiT's.
  add("vit_ti_16", "Touvron et al. 2020", {.width = 192, .heads = 3}, "ViT-Ti/16");
  add("vit_s_16", "Touvron et al. 2020", {.width = 384, .heads = 6}, "ViT-S/16");
  add("vit_b_16", "Dosovitskiy et al. 2020", {}, "ViT-B/16");
}

void add_language_transformers(Rows& rows) {
  const std::vector<std::string> heeded = {"layers",  "width",      "heads",
                                           "context", "vocabulary", "dropout"};
  const auto add_bert = [&](const std::string& name, const TransformerShape& shape,
                            const std::string& summary) {
    rows.push_back({{.name = name,
                     .family = "BERT",
                     .paper = "Devlin et al. 2018",
                     .options = heeded,
                     .summary = summary},
                    [shape](const ModelOptions& options) { return make_bert(shape, options); }});
  };
  const auto add_gpt = [&](const std::string& name, const GptOptions& shape,
                           const std::string& summary) {
    rows.push_back({{.name = name,
                     .family = "GPT",
                     .paper = "Radford et al. 2019",
                     .options = heeded,
                     .summary = summary},
                    [shape](const ModelOptions& options) { return make_gpt(shape, options); }});
  };
  add_bert("bert_base", {.dropout = 0.1}, "BERT-base, telling masked words");
  add_bert("bert_large", {.layers = 24, .width = 1024, .heads = 16, .dropout = 0.1},
           "BERT-large, telling masked words");
  add_gpt("gpt2", GptOptions(), "GPT-2 small");
  add_gpt("gpt2_medium", GptOptions::medium(), "GPT-2 medium");
  add_gpt("gpt2_large", GptOptions::large(), "GPT-2 large");
  add_gpt("gpt2_xl", GptOptions::extra_large(), "GPT-2 XL");
  add_gpt("gpt", GptOptions(), "GPT-2 of a size of one's own; GPT-2 small where nothing is said");
}

const Rows& rows() {
  static const Rows all = [] {
    Rows rows;
    add_linear_nets(rows);
    add_residual_nets(rows);
    add_branching_nets(rows);
    add_lstm(rows);
    add_vision_transformers(rows);
    add_language_transformers(rows);
    return rows;
  }();
  return all;
}

// Products of two fit an std::int64_t.
constexpr std::int64_t kMost = 1'000'000'000;
// Each takes host memory even where its tensors take none: a million of them, some gigabytes.
constexpr std::int64_t kMostLayers = 10'000;

struct NumberOption {
  const char* name;
  std::optional<std::int64_t> ModelOptions::*member;
  std::int64_t most = kMost;
};

constexpr std::array<NumberOption, 8> kNumberOptions = {
    {{"channels", &ModelOptions::channels},
     {"size", &ModelOptions::size},
     {"classes", &ModelOptions::classes},
     {"layers", &ModelOptions::layers, kMostLayers},
     {"width", &ModelOptions::width},
     {"heads", &ModelOptions::heads},
     {"context", &ModelOptions::context},
     {"vocabulary", &ModelOptions::vocabulary}}};

void require_heeded(const ModelInfo& info, const std::string& option) {
  const bool is_heeded =
      std::find(info.options.begin(), info.options.end(), option) != info.options.end();
  LT_REQUIRE(is_heeded, "model '", info.name, "' has no use for the option '", option,
             "'; it has: ", base::join(info.options));
}

void require_usable(const ModelInfo& info, const ModelOptions& options) {
  for (const NumberOption& option : kNumberOptions) {
    const std::optional<std::int64_t>& value = options.*option.member;
    if (!value) continue;
    require_heeded(info, option.name);
    LT_REQUIRE(*value >= 1, "option '", option.name, "' of model '", info.name,
               "' must be at least 1, not ", *value);
    LT_REQUIRE(*value <= option.most, "option '", option.name, "' of model '", info.name,
               "' must be at most ", option.most, ", not ", *value);
  }
  if (options.dropout) {
    require_heeded(info, "dropout");
    LT_REQUIRE(*options.dropout >= 0 && *options.dropout < 1, "option 'dropout' of model '",
               info.name, "' must be at least 0 and less than 1, not ", *options.dropout);
  }
  if (options.auxiliary) require_heeded(info, "auxiliary");
}

}  // namespace

const std::vector<ModelInfo>& catalogue() {
  static const std::vector<ModelInfo> infos = [] {
    std::vector<ModelInfo> all;
    for (const Row& row : rows()) all.push_back(row.info);
    return all;
  }();
  return infos;
}

Model make_model(const std::string& name, const ModelOptions& options) {
  std::vector<std::string> names;
  for (const Row& row : rows()) {
    if (row.info.name == name) {
      require_usable(row.info, options);
      Model model = row.make(options);
      model.name = name;
      return model;
    }
    names.push_back(row.info.name);
  }
  const std::string nearest = base::suggestion(name, names);
  throw InvalidInput(
      base::concat("unknown model '", name, "'",
                   nearest.empty() ? base::concat("; known are ", base::join(names)) : nearest));
}

}  // namespace lowtide::zoo
