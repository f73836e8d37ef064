// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "ctdr/candidates.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <optional>
#include <utility>

#include <ATen/ATen.h>
#include <torch/cuda.h>
#include <torch/nn/module.h>
#include <torch/nn/modules/batchnorm.h>

#include "base/check.h"
#include "base/suggest.h"
#include "decompose/noise.h"
#include "train/numerics.h"
#include "zoo/catalogue.h"

namespace lowtide::ctdr {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kTimedRuns = 5;
// Of the loss, or of an error squared: less is as good as none.
constexpr double kLeastRise = 1e-3;

// Weight, gradient, and the optimizer's states, in floats.
std::int64_t bytes_a_parameter(const std::string& optimizer) {
  constexpr std::int64_t kFloat = 4;
  if (optimizer == "sgd_plain") return kFloat * 2;
  return kFloat * (optimizer == "sgd" ? 3 : 4);
}

void wait_for(const at::Device& device) {
  if (device.is_cuda()) torch::cuda::synchronize(device.index());
}

std::int64_t elements(at::IntArrayRef sizes) { return c10::multiply_integers(sizes); }

using Norms = std::vector<torch::nn::BatchNorm2dImpl*>;

// They go on with the statistics that they have, whatever they are given in training.
Norms norms_of(torch::nn::Module& model) {
  Norms norms;
  for (const auto& module : model.modules(/*include_self=*/false)) {
    if (auto* norm = module->as<torch::nn::BatchNorm2dImpl>()) norms.push_back(norm);
  }
  for (torch::nn::BatchNorm2dImpl* norm : norms) norm->options.momentum(0.0);
  return norms;
}

bool is_svd_layer(const LayerInfo& info) {
  return !info.is_convolution || (info.kernel_height == 1 && info.kernel_width == 1);
}

// Elements of what lies between the layers of a chain.
std::int64_t elements_between(const LayerForm& form, std::int64_t before, std::int64_t after) {
  if (form.is_reconstructed) return 0;
  switch (form.method) {
    case Decomposition::kSvd:
      return form.ranks[0] * after;
    case Decomposition::kTucker2:
      return form.ranks[0] * before + form.ranks[1] * after;
    case Decomposition::kCp3:
      return form.ranks[0] * (before + after);
    default:
      return form.ranks[0] * (before + 2 * after);
  }
}

class Search {
 public:
  Search(DenseModel& dense, const zoo::DataSet& data, const CandidateRules& rules)
      : dense_(dense),
        rules_(rules),
        device_(dense.options().device),
        model_(zoo::make_model(dense.options().model, dense.options().model_options)) {
    model_.module->to(device_);
    norms_ = norms_of(*model_.module);
    dense.with({}).prepare(*model_.module);
    const std::int64_t count =
        std::min(dense.options().batch, data.size(zoo::Part::kTraining, model_.input));
    std::vector<std::int64_t> numbers(static_cast<std::size_t>(count));
    std::iota(numbers.begin(), numbers.end(), 0);
    batch_ = data.batch(zoo::Part::kTraining, numbers, model_.input);
    inputs_ = decompose::observe_inputs(*model_.module, [this] {
      static_cast<void>(model_.loss(batch_.inputs.to(device_), batch_.targets.to(device_)));
    });
  }

  std::vector<LayerOptions> go(const train::Hooks& hooks) {
    const double before = loss();
    LT_REQUIRE(std::isfinite(before),
               "the model's loss is not finite before anything is changed: ", before,
               "; go back to a checkpoint from before it was");
    for (const RankRule& rule : rules_.ranks) {
      if (decompose::is_joint(rule)) find_joint_forms(rule, before);
    }
    if (rules_.given) require_layers(*rules_.given);
    std::vector<LayerOptions> result;
    for (const LayerInfo& info : list_layers(*model_.module)) {
      if (hooks.is_stopped()) break;
      result.push_back(options_of(info, before));
    }
    return result;
  }

 private:
  // Names that are none are refused, with the nearest that is one.
  void require_layers(const Forms& forms) {
    for (const auto& [layer, form] : forms) {
      static_cast<void>(decompose::weight_of_layer(*model_.module, layer));
    }
  }

  // With the norms' statistics of the batch: they are taken anew once layers are decomposed, and
  // with those of the dense net the loss would rise for what that mends.
  double loss() {
    const at::NoGradGuard no_grad;
    model_.module->eval();
    for (torch::nn::BatchNorm2dImpl* norm : norms_) norm->train();
    std::optional<train::Bf16Autocast> autocast;
    if (dense_.options().has_bf16) autocast.emplace(device_.type());
    return model_.loss(batch_.inputs.to(device_), batch_.targets.to(device_)).item<double>();
  }

  LayerOptions options_of(const LayerInfo& info, double loss_before) {
    LayerOptions result = {.info = info, .reason = info.refusal};
    const auto found = inputs_.find(info.name);
    if (found == inputs_.end() && result.reason.empty()) result.reason = "it is not used";
    if (!result.reason.empty()) return result;
    result.input = found->second;
    result.is_noise = is_noise(info.name);
    if (result.is_noise && !rules_.takes_untrained) {
      result.reason = "its weight looks untrained; --untrained decomposes it all the same";
      return result;
    }
    const std::vector<LayerForm> forms = forms_of(info);
    if (forms.empty()) {
      result.reason =
          refusal_.empty() ? "no form that was asked for has fewer parameters" : refusal_;
      return result;
    }
    result.dense_seconds = seconds_of(info.name, result.input);
    for (const LayerForm& form : forms) {
      result.options.push_back(measure(result, form, loss_before));
    }
    // Before and after the others, so that it is not the one that finds everything cold.
    result.dense_seconds = std::min(result.dense_seconds, seconds_of(info.name, result.input));
    return result;
  }

  // Looked for once, since it takes a hundred products with the weight.
  bool is_noise(const std::string& layer) {
    const auto [found, is_new] = noise_.try_emplace(layer, false);
    if (is_new) found->second = decompose::is_noise(dense_.weight(layer));
    return found->second;
  }

  // The first of the methods that the layer can have.
  std::optional<Decomposition> method_for(const LayerInfo& info) const {
    for (const Decomposition method : rules_.methods) {
      if ((method == Decomposition::kSvd) == is_svd_layer(info)) return method;
    }
    return std::nullopt;
  }

  // How many parameters the layers may have together, of which they have so many.
  std::int64_t most_parameters(const RankRule& rule, std::int64_t all) const {
    if (rule.kind == RankRule::Kind::kTotal) {
      return static_cast<std::int64_t>(rule.value * static_cast<double>(all));
    }
    return static_cast<std::int64_t>(rule.value) / bytes_a_parameter(dense_.options().optimizer);
  }

  // How much the loss rises for the share that half of the parameters leave out; nothing if the
  // layer cannot be decomposed so, and then it is known why.
  std::optional<double> sensitivity_of(const LayerInfo& info, Decomposition method,
                                       double loss_before) {
    const LayerForm half = decompose::compressed_form(dense_.spectrum(info.name), method, 0.5);
    try {
      const double rise = std::max(loss_with(info.name, half) - loss_before, kLeastRise);
      const double error = dense_.factors(info.name, half).relative_error;
      return rise / std::max(error * error, kLeastRise);
    } catch (const InvalidInput& error) {
      joint_refusals_[info.name] = error.what();
      return std::nullopt;
    }
  }

  void find_joint_forms(const RankRule& rule, double loss_before) {
    std::vector<decompose::WeightedSpectrum> layers;
    std::vector<std::string> names;
    // Of all layers, and of those among them that stay dense.
    std::int64_t all = 0, dense = 0;
    for (const LayerInfo& info : list_layers(*model_.module)) {
      const std::optional<Decomposition> method = method_for(info);
      if (!method || !inputs_.contains(info.name)) continue;
      all += info.parameters;
      if (!rules_.takes_untrained && is_noise(info.name)) {
        dense += info.parameters;
        continue;
      }
      const std::optional<double> sensitivity = sensitivity_of(info, *method, loss_before);
      if (!sensitivity) {
        dense += info.parameters;
        continue;
      }
      layers.push_back({dense_.spectrum(info.name), *method, *sensitivity});
      names.push_back(info.name);
    }
    const std::vector<LayerForm> forms =
        decompose::forms_within(layers, most_parameters(rule, all) - dense);
    for (std::size_t i = 0; i < names.size(); ++i) joint_forms_[names[i]] = forms[i];
  }

  // Of the batch, with this layer alone changed.
  double loss_with(const std::string& layer, const LayerForm& form) {
    const at::NoGradGuard no_grad;
    const at::Tensor weight = decompose::weight_of_layer(*model_.module, layer);
    weight.copy_(decompose::reconstruct(dense_.factors(layer, form).factored, weight.sizes()));
    const double changed = loss();
    weight.copy_(dense_.weight(layer));
    return changed;
  }

  std::vector<LayerForm> forms_of(const LayerInfo& info) {
    refusal_.clear();
    if (rules_.given) return given_form(info.name);
    std::vector<LayerForm> forms;
    for (const Decomposition method : rules_.methods) {
      if ((method == Decomposition::kSvd) != is_svd_layer(info)) continue;
      for (const RankRule& rule : rules_.ranks) add_forms(info, rule, method, forms);
    }
    return forms;
  }

  // What a rule for all layers together gave this one.
  LayerForm joint_form(const std::string& layer) const {
    const auto refusal = joint_refusals_.find(layer);
    if (refusal != joint_refusals_.end()) throw InvalidInput(refusal->second);
    const auto found = joint_forms_.find(layer);
    return found == joint_forms_.end() ? LayerForm{} : found->second;
  }

  std::vector<LayerForm> given_form(const std::string& layer) {
    const auto found = rules_.given->find(layer);
    if (found == rules_.given->end() || found->second.method == Decomposition::kDense) {
      refusal_ = "dense in the forms that were given";
      return {};
    }
    static_cast<void>(dense_.factors(layer, found->second));
    return {found->second};
  }

  void add_forms(const LayerInfo& info, const RankRule& rule, Decomposition method,
                 std::vector<LayerForm>& forms) {
    const decompose::Spectrum& spectrum = dense_.spectrum(info.name);
    LayerForm form;
    try {
      form = decompose::is_joint(rule) ? joint_form(info.name)
                                       : decompose::form_by(rule, spectrum, method);
      // Only one method has its ranks with the other layers'.
      if (form.method != method || !decompose::is_smaller(form, spectrum)) return;
      static_cast<void>(dense_.factors(info.name, form));
    } catch (const InvalidInput& error) {
      refusal_ = error.what();  // a rank that it cannot have, or terms that cancel each other
      return;
    }
    if (std::find(forms.begin(), forms.end(), form) != forms.end()) return;
    forms.push_back(form);
    if (!rules_.has_reconstructed) return;
    form.is_reconstructed = true;
    forms.push_back(form);
  }

  // Of forward and backward, the least of some: others on the machine can only add to it.
  double seconds_of(const std::string& layer, const decompose::LayerInput& given) {
    const at::Tensor input = at::randn(given.sizes, device_).requires_grad_(given.needs_gradient);
    std::optional<train::Bf16Autocast> autocast;
    if (dense_.options().has_bf16) autocast.emplace(device_.type());
    std::vector<double> seconds;
    for (int i = 0; i < kTimedRuns + 1; ++i) {
      wait_for(device_);
      const Clock::time_point start = Clock::now();
      const at::Tensor output = decompose::run_layer(*model_.module, layer, input);
      output.backward(at::ones_like(output));
      wait_for(device_);
      // Libraries choose their kernels in the first.
      if (i > 0) seconds.push_back(std::chrono::duration<double>(Clock::now() - start).count());
      after_ = output.numel();
    }
    return *std::min_element(seconds.begin(), seconds.end());
  }

  Option measure(const LayerOptions& layer, const LayerForm& form, double loss_before) {
    const LayerInfo& info = layer.info;
    const decompose::Factorisation& found = dense_.factors(info.name, form);
    const at::Tensor weight = decompose::weight_of_layer(*model_.module, info.name);
    Option option = {.form = form, .relative_error = found.relative_error};
    option.loss_rise = std::max(loss_with(info.name, form) - loss_before, 0.0);
    option.parameters = decompose::count_parameters(form, weight.sizes());
    option.state_bytes_saved =
        (weight.numel() - option.parameters) * bytes_a_parameter(dense_.options().optimizer);
    prepare_layer(*model_.module, info.name, form);
    option.seconds = seconds_of(info.name, layer.input);
    merge_layers(*model_.module);
    restore(info.name);
    option.extra_activation_bytes =
        4 *
        elements_between(form, elements(layer.input.sizes) / info.inputs, after_ / info.outputs);
    return option;
  }

  void restore(const std::string& layer) {
    const at::NoGradGuard no_grad;
    decompose::weight_of_layer(*model_.module, layer).copy_(dense_.weight(layer));
  }

  DenseModel& dense_;
  const CandidateRules& rules_;
  const at::Device device_;
  zoo::Model model_;
  Norms norms_;
  zoo::Batch batch_;
  std::map<std::string, decompose::LayerInput> inputs_;
  std::map<std::string, bool> noise_;
  std::map<std::string, LayerForm> joint_forms_;
  std::map<std::string, std::string> joint_refusals_;
  // Why the layer that is looked at cannot have a form.
  std::string refusal_;
  // Elements of what the layer that was timed last gave.
  std::int64_t after_ = 0;
};

std::vector<std::int64_t> sizes_of(const LayerInfo& info) {
  if (!info.is_convolution) return {info.outputs, info.inputs};
  return {info.outputs, info.inputs, info.kernel_height, info.kernel_width};
}

// That any of the layers could have by one of the methods; 0: there is none.
std::int64_t largest_useful_rank(const std::vector<LayerOptions>& layers,
                                 const std::vector<Decomposition>& methods) {
  std::int64_t most = 0;
  for (const LayerOptions& layer : layers) {
    if (!layer.info.refusal.empty()) continue;
    for (const Decomposition method : methods) {
      if ((method == Decomposition::kSvd) != is_svd_layer(layer.info)) continue;
      most = std::max(most, decompose::largest_useful_rank(sizes_of(layer.info), method));
    }
  }
  return most;
}

// Given forms are all taken or none.
void require_given(const std::vector<LayerOptions>& layers, const Forms& forms) {
  for (const LayerOptions& layer : layers) {
    const auto found = forms.find(layer.info.name);
    const bool is_wanted = found != forms.end() && found->second.method != Decomposition::kDense;
    LT_REQUIRE(!is_wanted || !layer.options.empty(), "layer '", layer.info.name, "' cannot become ",
               to_string(found->second), ": ", layer.reason);
  }
}

void require_trained(const std::vector<LayerOptions>& layers) {
  std::vector<std::string> untrained;
  for (const LayerOptions& layer : layers) {
    if (!layer.options.empty()) return;
    if (layer.is_noise) untrained.push_back(layer.info.name);
  }
  LT_REQUIRE(untrained.empty(), "the weights of ", base::join(untrained),
             " look untrained: nothing of them stands out of random numbers, so lower ranks lose "
             "what there is; train the net first, or decompose it all the same with --untrained");
}

// A rank that is too large for all layers is refused, with the nearest that does for some.
void require_possible(const std::vector<LayerOptions>& layers, const CandidateRules& rules) {
  for (const LayerOptions& layer : layers) {
    if (!layer.options.empty()) return;
  }
  for (const RankRule& rule : rules.ranks) {
    if (rule.kind != RankRule::Kind::kFixed) continue;
    const std::int64_t most = largest_useful_rank(layers, rules.methods);
    LT_REQUIRE(most > 0, "no layer becomes smaller at any rank");
    // Else each layer has a reason of its own.
    LT_REQUIRE(rule.value <= static_cast<double>(most), "no layer becomes smaller at a rank of ",
               rule.value, "; the largest rank that could help is ", most);
  }
}

}  // namespace

std::vector<LayerOptions> find_candidates(DenseModel& dense, const zoo::DataSet& data,
                                          const CandidateRules& rules, const train::Hooks& hooks) {
  std::vector<LayerOptions> layers = Search(dense, data, rules).go(hooks);
  if (hooks.is_stopped()) return layers;
  if (rules.given) {
    require_given(layers, *rules.given);
  } else {
    if (!rules.takes_untrained) require_trained(layers);
    require_possible(layers, rules);
  }
  return layers;
}

}  // namespace lowtide::ctdr
