// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "estimate/torch/onnx_step.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <set>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <ATen/ATen.h>

#include "base/check.h"
#include "estimate/torch/onnx_call.h"

namespace lowtide::estimate {
namespace {

using at::Tensor;

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

class OnnxRunner {
 public:
  OnnxRunner(const OnnxGraph& graph, std::int64_t batch, const AxisSizes& axes,
             std::vector<std::string>& warnings)
      : graph_(graph), batch_(batch), sizes_(graph, batch, axes), warnings_(warnings) {
    make_weights();
    find_last_uses();
    for (const OnnxValueInfo& info : graph.others) infos_.emplace(info.name, &info);
    for (const OnnxValueInfo& info : graph.outputs) infos_.emplace(info.name, &info);
  }

  const train::State& parameters() const { return parameters_; }
  const train::State& buffers() const { return buffers_; }

  std::vector<Tensor> batch() {
    std::vector<Tensor> inputs;
    for (const OnnxValueInfo& input : graph_.inputs) {
      if (weights_.contains(input.name)) continue;
      inputs.push_back(at::empty(sizes_.of_input(input), scalar_type_of(input.type)));
    }
    return inputs;
  }

  Tensor loss(const std::vector<Tensor>& inputs) {
    values_ = weights_;
    most_elements_ = 0;
    has_guessed_ = false;
    auto next = inputs.begin();
    for (const OnnxValueInfo& input : graph_.inputs) {
      if (!weights_.contains(input.name)) values_[input.name].tensor = *next++;
    }
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) run(i);
    Tensor total;
    for (const OnnxValueInfo& output : graph_.outputs) add_loss(output.name, total);
    LT_REQUIRE(total.defined() && total.requires_grad(),
               "no output of the graph depends on a weight, so there is nothing to train");
    values_.clear();
    return total;
  }

 private:
  void make_weights() {
    std::unordered_set<std::string> statistics;
    for (const OnnxNode& node : graph_.nodes) {
      if (node.op != "BatchNormalization") continue;
      for (std::size_t i = 3; i < node.inputs.size(); ++i) statistics.insert(node.inputs[i]);
    }
    for (const OnnxTensor& weight : graph_.weights) {
      if (weight.integers) {
        weights_[weight.name] = {.integers = weight.integers, .is_scalar = weight.sizes.empty()};
      } else {
        add_weight(weight.name, weight.sizes, weight.type, statistics);
        weights_[weight.name].floats = weight.floats;
      }
    }
    for (const OnnxNode& node : graph_.nodes) add_filled_weight(node, statistics);
  }

  void add_weight(const std::string& name, const std::vector<std::int64_t>& sizes,
                  std::int32_t type, const std::unordered_set<std::string>& statistics) {
    const Tensor tensor = at::empty(sizes, scalar_type_of(type));
    const bool is_trained =
        tensor.is_floating_point() && tensor.numel() > 1 && !statistics.contains(name);
    if (is_trained) tensor.requires_grad_();
    (is_trained ? parameters_ : buffers_).push_back({name, tensor});
    weights_[name].tensor = tensor;
  }

  // Files that are to be small have ops in place of weights that fill a shape with one number.
  void add_filled_weight(const OnnxNode& node, const std::unordered_set<std::string>& statistics) {
    if (node.op != "ConstantOfShape" || node.inputs.size() != 1 || node.outputs.size() != 1) return;
    const auto shape = weights_.find(node.inputs[0]);
    if (shape == weights_.end() || !shape->second.integers) return;
    const bool has_type = !node.attributes.empty() && node.attributes[0].tensor;
    constexpr std::int32_t kFloat = 1;
    const std::vector<std::int64_t> sizes = *shape->second.integers;
    add_weight(node.outputs[0], sizes, has_type ? node.attributes[0].tensor->type : kFloat,
               statistics);
  }

  // A value goes when no further op wants it, as in a program that names its values anew.
  void find_last_uses() {
    for (std::size_t i = 0; i < graph_.nodes.size(); ++i) {
      for (const std::string& name : graph_.nodes[i].inputs) last_use_[name] = i;
    }
    for (const OnnxValueInfo& output : graph_.outputs) last_use_[output.name] = graph_.nodes.size();
  }

  void run(std::size_t i) {
    const OnnxNode& node = graph_.nodes[i];
    if (node.outputs.size() == 1 && weights_.contains(node.outputs[0])) return;
    OnnxCall call{.node = node,
                  .inputs = {},
                  .opset = graph_.opset,
                  .file_batch = sizes_.open().file_batch,
                  .batch = batch_};
    for (const std::string& name : node.inputs) {
      const auto found = values_.find(name);
      LT_REQUIRE(name.empty() || found != values_.end(), "the op ", node.op, " '", node.name,
                 "' reads '", name, "', which nothing before it makes");
      call.inputs.push_back(name.empty() ? OnnxValue() : found->second);
    }
    std::vector<OnnxValue> results = results_of(call);
    for (std::size_t k = 0; k < std::min(results.size(), node.outputs.size()); ++k) {
      if (node.outputs[k].empty()) continue;
      const Tensor& result = results[k].tensor;
      if (result.defined()) most_elements_ = std::max(most_elements_, result.numel());
      values_[node.outputs[k]] = std::move(results[k]);
    }
    for (const std::string& name : node.inputs) {
      if (last_use_[name] == i) values_.erase(name);
    }
  }

  std::vector<OnnxValue> results_of(const OnnxCall& call) {
    const OnnxOp* op = call.node.domain.empty() ? find_onnx_op(call.node.op) : nullptr;
    if (op == nullptr) {
      return guess(call, base::concat("the op '", call.node.op, "' is not known"));
    }
    try {
      return (*op)(call);
    } catch (const OnnxUnknown& error) {
      return guess(call, error.what());
    } catch (const c10::Error& error) {
      const std::string reason = first_line(error.what_without_backtrace());
      // What was guessed before may have come out with other sizes than it really has. Else the
      // file may be right where it says itself what comes out.
      if (has_guessed_) {
        return guess(call, base::concat("the op '", call.node.op,
                                        "' does not go with what was guessed before it"));
      }
      const std::string what = base::concat("the op ", call.node.op, " '", call.node.name,
                                            "' does not go with its inputs: ", reason);
      if (!tells_results(call.node)) throw InvalidInput(what);
      return guess(call, what);
    }
  }

  bool tells_results(const OnnxNode& node) const {
    return std::all_of(node.outputs.begin(), node.outputs.end(), [this](const std::string& name) {
      return name.empty() || told_sizes(name).has_value();
    });
  }

  // As if it kept all that it reads and gives. Results are as the file says, else as large as the
  // largest input that is no weight; and since such an op may enlarge what it reads, as many
  // elements as the largest value before it has are there beside them.
  std::vector<OnnxValue> guess(const OnnxCall& call, const std::string& reason) {
    has_guessed_ = true;
    warn(call.node, reason);
    Tensor kept = at::zeros({});
    bool reads_fractions = false;
    for (std::size_t i = 0; i < call.inputs.size(); ++i) {
      if (!call.has(i)) continue;
      const Tensor input = call.tensor(i);
      if (!input.is_floating_point()) continue;
      reads_fractions = true;
      kept = kept + at::mul(input, input).mean();
    }
    const std::vector<std::int64_t> like = guessed_sizes(call);
    if (reads_fractions && !tells_results(call.node)) {
      kept = kept + kept.expand({std::max<std::int64_t>(most_elements_, 1)}).exp().mean();
    }
    std::vector<OnnxValue> results;
    for (const std::string& name : call.node.outputs) {
      const std::vector<std::int64_t> sizes = told_sizes(name).value_or(like);
      results.emplace_back().tensor =
          has_integers(name) ? at::empty(sizes, at::kLong) : kept.expand(sizes).exp();
    }
    return results;
  }

  void warn(const OnnxNode& node, const std::string& reason) {
    if (!warned_.insert(reason).second) return;
    std::string warning =
        reason + ": counted as if it kept everything it reads and gives for the backward pass";
    if (!tells_results(node)) {
      warning += ", with a result like its largest input and as much beside it as any value before";
    }
    warnings_.push_back(std::move(warning));
  }

  // Of the largest input, weights only where there is nothing else.
  std::vector<std::int64_t> guessed_sizes(const OnnxCall& call) const {
    Tensor largest;
    bool is_weight = true;
    for (std::size_t i = 0; i < call.inputs.size(); ++i) {
      if (!call.has(i)) continue;
      const Tensor input = call.tensor(i);
      const bool is_this_weight = weights_.contains(call.node.inputs[i]);
      const bool is_better = !largest.defined() || (is_weight && !is_this_weight) ||
                             (is_weight == is_this_weight && input.numel() > largest.numel());
      if (!is_better) continue;
      largest = input;
      is_weight = is_this_weight;
    }
    return largest.defined() ? largest.sizes().vec() : std::vector<std::int64_t>();
  }

  bool has_integers(const std::string& name) const {
    const auto found = infos_.find(name);
    if (found == infos_.end() || found->second->type == 0) return false;
    return !at::isFloatingType(scalar_type_of(found->second->type));
  }

  // Nothing if the file does not tell.
  std::optional<std::vector<std::int64_t>> told_sizes(const std::string& name) const {
    const auto found = infos_.find(name);
    return found == infos_.end() ? std::nullopt : sizes_.of_value(*found->second);
  }

  void add_loss(const std::string& name, Tensor& total) {
    const auto found = values_.find(name);
    LT_REQUIRE(found != values_.end(), "nothing makes the output '", name, "'");
    const Tensor& output = found->second.tensor;
    if (!output.defined() || !output.is_floating_point() || !output.requires_grad()) return;
    const Tensor loss = output.dim() == 2
                            ? at::cross_entropy_loss(output, at::empty({output.size(0)}, at::kLong))
                            : output.mean();
    total = total.defined() ? total + loss : loss;
  }

  const OnnxGraph& graph_;
  const std::int64_t batch_;
  const ValueSizes sizes_;
  std::vector<std::string>& warnings_;
  // Of the largest value that any op has given.
  std::int64_t most_elements_ = 0;
  train::State parameters_, buffers_;
  std::unordered_map<std::string, OnnxValue> weights_, values_;
  std::unordered_map<std::string, std::size_t> last_use_;
  std::unordered_map<std::string, const OnnxValueInfo*> infos_;
  std::set<std::string> warned_;
  bool has_guessed_ = false;
};

}  // namespace

OnnxStep onnx_step(const OnnxGraph& graph, const StepOptions& options, const AxisSizes& axes) {
  std::vector<std::string> warnings;
  DryStep step = steady_step("onnx", options, [&] {
    const auto runner = std::make_shared<OnnxRunner>(graph, options.batch, axes, warnings);
    LT_REQUIRE(!runner->parameters().empty(), "the graph has no weights to train");
    return Trained{runner->parameters(), runner->buffers(), [runner] { return runner->batch(); },
                   [runner](const std::vector<Tensor>& inputs) { return runner->loss(inputs); }};
  });
  return {std::move(step), std::move(warnings)};
}

}  // namespace lowtide::estimate
