// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "zoo/catalogue.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/check.h"
#include "base/suggest.h"
#include "zoo/gpt.h"
#include "zoo/resnet.h"
#include "zoo/small_resnet.h"

namespace lowtide::zoo {
namespace {

struct Row {
  ModelInfo info;
  std::function<Model(const ModelOptions&)> make;
};
using Rows = std::vector<Row>;

void add_residual_nets(Rows& rows) {
  for (const int depth : {18, 34, 50, 101, 152}) {
    rows.push_back({{.name = base::concat("resnet", depth),
                     .family = "ResNet",
                     .paper = "He et al. 2015",
                     .options = {"channels", "size", "classes"},
                     .summary = base::concat("residual net of ", depth, " layers")},
                    [depth](const ModelOptions& options) { return make_resnet(depth, options); }});
  }
  rows.push_back({{.name = "small_resnet",
                   .family = "ResNet",
                   .paper = "after He et al. 2015, section 4.2",
                   .options = {"channels", "size", "classes", "width"},
                   .summary = "residual net for small grey pictures, quick on a CPU"},
                  make_small_resnet});
}

void add_gpts(Rows& rows) {
  const auto add = [&rows](std::string name, const GptOptions& shape, std::string summary) {
    rows.push_back({{.name = std::move(name),
                     .family = "GPT",
                     .paper = "Radford et al. 2019",
                     .options = {"layers", "width", "heads", "context", "vocabulary", "dropout"},
                     .summary = std::move(summary)},
                    [shape](const ModelOptions& options) { return make_gpt(shape, options); }});
  };
  add("gpt2", GptOptions(), "GPT-2 small");
  add("gpt2_medium", GptOptions::medium(), "GPT-2 medium");
  add("gpt2_large", GptOptions::large(), "GPT-2 large");
  add("gpt2_xl", GptOptions::extra_large(), "GPT-2 XL");
  add("gpt", GptOptions(), "GPT-2 of a size of one's own; GPT-2 small where nothing is said");
}

const Rows& rows() {
  static const Rows all = [] {
    Rows rows;
    add_residual_nets(rows);
    add_gpts(rows);
    return rows;
  }();
  return all;
}

struct NumberOption {
  const char* name;
  std::optional<std::int64_t> ModelOptions::*member;
};

constexpr std::array<NumberOption, 8> kNumberOptions = {
    {{"channels", &ModelOptions::channels},
     {"size", &ModelOptions::size},
     {"classes", &ModelOptions::classes},
     {"layers", &ModelOptions::layers},
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
  throw InvalidInput(base::concat("unknown model '", name, "'; known are ", base::join(names),
                                  base::suggestion(name, names)));
}

}  // namespace lowtide::zoo
