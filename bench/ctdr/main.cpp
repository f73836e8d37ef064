// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <functional>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <torch/nn/module.h>

#include "cost/op_cost.h"
#include "ctdr/choice.h"
#include "ctdr/forms_file.h"
#include "ctdr/judge.h"
#include "decompose/rank_rule.h"
#include "estimate/torch/zoo_step.h"
#include "lowtide/decompose.h"
#include "lowtide/errors.h"

// Prints what decomposing would do to a net's step on a GPU that is not there, as JSON: the step of
// the dense net, of the net with every layer decomposed by one method, and of what CTDR chooses, on
// shapes alone, timed by the machine's roofline, planned and simulated. bench/ctdr/simulate calls
// it.

namespace {

using namespace lowtide;
using decompose::RankRule;
using nlohmann::json;

struct Arguments {
  std::string model;
  std::int64_t batch = 64;
  bool has_bf16 = false;
  std::string optimizer = "sgd";
  zoo::ModelOptions size;
  // Of the dense net's plain peak; CTDR chooses for the first.
  std::vector<double> shares = {0.4};
  // Of plans of sets that are tried; those that are printed take as long as they take.
  double think_seconds = 2;
  // A file with what CTDR chose before; empty: it chooses.
  std::string forms;
};

constexpr double kUnlimited = 1e9;

// As weights, gradients and states of floats.
std::int64_t bytes_a_parameter(const std::string& optimizer) {
  return optimizer == "sgd_plain" ? 8 : optimizer == "sgd" ? 12 : 16;
}

class Net {
 public:
  explicit Net(const Arguments& arguments) : arguments_(arguments) {
    dense_ = step({});
    static_cast<void>(run({}, [this](torch::nn::Module& model) { layers_ = list_layers(model); }));
  }

  const std::shared_ptr<const Trace>& dense() const { return dense_; }
  const std::vector<LayerInfo>& layers() const { return layers_; }
  const Machine& machine() const { return machine_; }

  std::shared_ptr<const Trace> step(const ctdr::Forms& forms) const {
    return run(forms, [](torch::nn::Module&) {});
  }

  double seconds(const Trace& trace) const {
    return cost::CostTable(trace, machine_).total_seconds;
  }

  ctdr::Judgement judge(const std::shared_ptr<const Trace>& trace, std::int64_t budget,
                        double think_seconds, Means means = Means::kMixed) const {
    return ctdr::judge_trace(trace, {.machine = machine_,
                                     .budget_bytes = budget,
                                     .means = means,
                                     .think_seconds = think_seconds});
  }

 private:
  std::shared_ptr<const Trace> run(const ctdr::Forms& forms,
                                   const std::function<void(torch::nn::Module&)>& look) const {
    const estimate::StepOptions options = {.batch = arguments_.batch,
                                           .optimizer = arguments_.optimizer,
                                           .has_bf16 = arguments_.has_bf16,
                                           .prepare = [&](torch::nn::Module& model) {
                                             look(model);
                                             for (const auto& [layer, form] : forms)
                                               prepare_layer(model, layer, form);
                                           }};
    estimate::DryStep dry = estimate::zoo_step(arguments_.model, arguments_.size, options);
    return std::make_shared<const Trace>(std::move(dry.trace));
  }

  const Arguments& arguments_;
  Machine machine_ = machine_named("h200");
  std::shared_ptr<const Trace> dense_;
  std::vector<LayerInfo> layers_;
};

std::vector<std::int64_t> weight_sizes(const LayerInfo& layer) {
  if (!layer.is_convolution) return {layer.outputs, layer.inputs};
  return {layer.outputs, layer.inputs, layer.kernel_height, layer.kernel_width};
}

// With that share of the layer's parameters; dense if it would not be smaller.
LayerForm form_of(const LayerInfo& layer, std::string_view method, double share) {
  const decompose::Spectrum spectrum = {.sizes = weight_sizes(layer)};
  const Decomposition way = decompose::method_for(method, spectrum.sizes);
  const bool is_possible = layer.refusal.empty() &&
                           (way == Decomposition::kSvd) == decompose::is_svd_weight(spectrum.sizes);
  if (!is_possible) return {};
  const LayerForm form = decompose::form_by({RankRule::Kind::kCompression, share}, spectrum, way);
  return decompose::is_smaller(form, spectrum) ? form : LayerForm{};
}

ctdr::Forms everywhere(const Net& net, std::string_view method) {
  ctdr::Forms forms;
  for (const LayerInfo& layer : net.layers()) {
    const LayerForm form = form_of(layer, method, 0.5);
    if (form.method != Decomposition::kDense) forms[layer.name] = form;
  }
  return forms;
}

// What the layer could become, as find_candidates() has it by measuring, but for reconstructed
// forms: with a half and a quarter of the parameters. A step's difference is the layer's.
ctdr::LayerOptions options_of(const Net& net, const LayerInfo& layer, const Arguments& arguments) {
  ctdr::LayerOptions result = {.info = layer, .reason = layer.refusal};
  result.dense_seconds = net.seconds(*net.dense());
  for (const char* method : {"svd", "tucker2", "cp3"}) {
    for (const double share : {0.5, 0.25}) {
      const LayerForm form = form_of(layer, method, share);
      const bool is_known =
          std::any_of(result.options.begin(), result.options.end(),
                      [&](const ctdr::Option& option) { return option.form == form; });
      if (form.method == Decomposition::kDense || is_known) continue;
      const std::int64_t parameters = decompose::count_parameters(form, weight_sizes(layer));
      result.options.push_back({.form = form,
                                .seconds = net.seconds(*net.step({{layer.name, form}})),
                                .parameters = parameters,
                                .state_bytes_saved = (layer.parameters - parameters) *
                                                     bytes_a_parameter(arguments.optimizer)});
    }
  }
  if (result.options.empty() && result.reason.empty()) result.reason = "no form is smaller";
  return result;
}

json layers_json(const Net& net, const ctdr::Forms& forms) {
  json layers = json::object();
  for (const LayerInfo& layer : net.layers()) {
    const auto found = forms.find(layer.name);
    layers[layer.name] = found == forms.end() ? "dense" : to_string(found->second);
  }
  return layers;
}

// At the plain peak and, for each budget, under the best plan.
json variant_json(const Net& net, const ctdr::Forms& forms,
                  const std::vector<std::int64_t>& budgets, Means means = Means::kMixed) {
  const std::shared_ptr<const Trace> trace = forms.empty() ? net.dense() : net.step(forms);
  json result = {{"layers_decomposed", forms.size()}};
  for (const std::int64_t budget : budgets) {
    const ctdr::Judgement found = net.judge(trace, budget, kUnlimited, means);
    result["plain_peak_bytes"] = found.plain_peak_bytes;
    result["plain_seconds"] = found.plain_seconds;
    for (std::size_t i = 0; i < kStorageKinds; ++i) {
      const auto kind = static_cast<StorageKind>(i);
      result["plain_bytes"][std::string(to_string(kind))] = found.plain_bytes[i];
    }
    json row = {{"budget_bytes", budget}};
    if (found.planned_seconds) {
      row["planned_seconds"] = *found.planned_seconds;
      row["planned_peak_bytes"] = found.planned_peak_bytes;
    } else {
      row["smallest_budget_bytes"] = found.smallest_budget_bytes;
    }
    result["budgets"].push_back(row);
  }
  return result;
}

// Nothing if no choice keeps the budget.
std::optional<ctdr::Forms> chosen_forms(const Net& net, std::int64_t budget,
                                        const Arguments& arguments) {
  if (!arguments.forms.empty()) {
    ctdr::Forms forms = ctdr::read_forms(arguments.forms);
    std::erase_if(forms,
                  [](const auto& layer) { return layer.second.method == Decomposition::kDense; });
    return forms;
  }
  const double seconds = arguments.think_seconds;
  const ctdr::Judgement plain = net.judge(net.dense(), budget, seconds);
  std::vector<ctdr::LayerOptions> options;
  for (const LayerInfo& layer : net.layers()) options.push_back(options_of(net, layer, arguments));
  const std::optional<ctdr::Choice> choice =
      ctdr::choose(ctdr::rank_choices(options, plain), /*everywhere=*/false,
                   [&](const ctdr::Forms& forms) -> std::optional<ctdr::Judgement> {
                     return forms.empty() ? plain : net.judge(net.step(forms), budget, seconds);
                   });
  if (!choice->chosen) return std::nullopt;
  return choice->trials[*choice->chosen].forms;
}

json study(const Arguments& arguments) {
  const Net net(arguments);
  const std::int64_t peak =
      net.judge(net.dense(), net.machine().device_bytes, kUnlimited).plain_peak_bytes;
  std::vector<std::int64_t> budgets;
  for (const double share : arguments.shares) {
    budgets.push_back(static_cast<std::int64_t>(share * static_cast<double>(peak)));
  }
  json result = {{"model", arguments.model},
                 {"batch", arguments.batch},
                 {"machine", "h200"},
                 {"amp", arguments.has_bf16 ? "bf16" : "off"},
                 {"optimizer", arguments.optimizer}};
  json& variants = result["variants"];
  variants["dense"] = variant_json(net, {}, budgets);
  variants["recompute"] = variant_json(net, {}, budgets, Means::kRecompute);
  for (const char* method : {"svd", "tucker2", "cp3"}) {
    variants[std::string(method) + " alone"] = variant_json(net, everywhere(net, method), budgets);
  }
  const std::optional<ctdr::Forms> forms = chosen_forms(net, budgets.front(), arguments);
  if (!forms) return result;
  result["layers"] = layers_json(net, *forms);
  variants["ctdr"] = variant_json(net, *forms, budgets);
  return result;
}

}  // namespace

int main(int count, char** values) {
  CLI::App app("What decomposing would do to a net's step on an H200, by shapes and roofline");
  Arguments arguments;
  app.add_option("MODEL", arguments.model)->required();
  app.add_option("--batch", arguments.batch);
  app.add_flag("--bf16", arguments.has_bf16);
  app.add_option("--optimizer", arguments.optimizer);
  app.add_option("--layers", arguments.size.layers);
  app.add_option("--width", arguments.size.width);
  app.add_option("--heads", arguments.size.heads);
  app.add_option("--context", arguments.size.context);
  app.add_option("--shares", arguments.shares)->delimiter(',');
  app.add_option("--think", arguments.think_seconds);
  app.add_option("--forms", arguments.forms);
  CLI11_PARSE(app, count, values);
  try {
    std::cout << study(arguments).dump(1) << std::endl;
  } catch (const std::exception& error) {
    std::cerr << error.what() << std::endl;
    return 1;
  }
}
