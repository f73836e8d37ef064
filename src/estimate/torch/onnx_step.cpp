// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "estimate/torch/onnx_step.h"

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
  OnnxRunner(const OnnxGraph& graph, std::int64_t batch, std::optional<std::int64_t> free_axis,
             std::vector<std::string>& warnings)
      : graph_(graph), batch_(batch), free_axis_(free_axis), warnings_(warnings) {
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
      if (!weights_.contains(input.name)) inputs.push_back(input_of(input));
    }
    return inputs;
  }

  Tensor loss(const std::vector<Tensor>& inputs) {
    values_ = weights_;
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

  Tensor input_of(const OnnxValueInfo& input) {
    LT_REQUIRE(input.has_sizes && !input.sizes.empty(), "the input '", input.name,
               "' has no shape in the file");
    std::vector<std::int64_t> sizes = input.sizes;
    if (file_batch_ < 0) file_batch_ = sizes[0];
    sizes[0] = batch_;
    for (std::int64_t& size : sizes) {
      LT_REQUIRE(size >= 0 || free_axis_, "the input '", input.name,
                 "' has an axis beside the batch that the file leaves open; name its size with "
                 "--size or --context");
      if (size < 0) size = *free_axis_;
    }
    return at::empty(sizes, scalar_type_of(input.type));
  }

  void run(std::size_t i) {
    const OnnxNode& node = graph_.nodes[i];
    if (node.outputs.size() == 1 && weights_.contains(node.outputs[0])) return;
    OnnxCall call{.node = node,
                  .inputs = {},
                  .opset = graph_.opset,
                  .file_batch = file_batch_,
                  .batch = batch_};
    for (const std::string& name : node.inputs) {
      const auto found = values_.find(name);
      LT_REQUIRE(name.empty() || found != values_.end(), "the op ", node.op, " '", node.name,
                 "' reads '", name, "', which nothing before it makes");
      call.inputs.push_back(name.empty() ? OnnxValue() : found->second);
    }
    std::vector<OnnxValue> results = results_of(call);
    for (std::size_t k = 0; k < std::min(results.size(), node.outputs.size()); ++k) {
      if (!node.outputs[k].empty()) values_[node.outputs[k]] = std::move(results[k]);
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
      // What was guessed before may have come out with other sizes than it really has.
      if (!has_guessed_) {
        throw InvalidInput(base::concat("the op ", call.node.op, " '", call.node.name,
                                        "' does not go with its inputs: ", reason));
      }
      return guess(call, base::concat("the op '", call.node.op,
                                      "' does not go with what was guessed before it"));
    }
  }

  // As if it kept all that it reads and gives; the results are as the file says, else as large as
  // the largest input.
  std::vector<OnnxValue> guess(const OnnxCall& call, const std::string& reason) {
    has_guessed_ = true;
    if (warned_.insert(reason).second) {
      warnings_.push_back(
          reason + ": counted as if it kept everything it reads and gives for the backward pass");
    }
    Tensor kept = at::zeros({});
    Tensor largest = at::empty({});
    for (std::size_t i = 0; i < call.inputs.size(); ++i) {
      if (!call.has(i)) continue;
      const Tensor input = call.tensor(i);
      if (input.is_floating_point()) kept = kept + at::mul(input, input).mean();
      if (input.numel() > largest.numel()) largest = input;
    }
    std::vector<OnnxValue> results;
    for (const std::string& name : call.node.outputs) {
      const std::vector<std::int64_t> sizes = sizes_of(name, largest);
      results.push_back(
          {.tensor = has_integers(name) ? at::empty(sizes, at::kLong) : kept.expand(sizes).exp()});
    }
    return results;
  }

  bool has_integers(const std::string& name) const {
    const auto found = infos_.find(name);
    if (found == infos_.end() || found->second->type == 0) return false;
    return !at::isFloatingType(scalar_type_of(found->second->type));
  }

  std::vector<std::int64_t> sizes_of(const std::string& name, const Tensor& largest) const {
    const auto found = infos_.find(name);
    if (found == infos_.end() || !found->second->has_sizes) return largest.sizes().vec();
    std::vector<std::int64_t> sizes = found->second->sizes;
    if (!sizes.empty() && (sizes[0] < 0 || sizes[0] == file_batch_)) sizes[0] = batch_;
    for (std::int64_t& size : sizes) {
      if (size < 0) size = free_axis_.value_or(1);
    }
    return sizes;
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
  const std::optional<std::int64_t> free_axis_;
  std::vector<std::string>& warnings_;
  std::int64_t file_batch_ = -1;
  train::State parameters_, buffers_;
  std::unordered_map<std::string, OnnxValue> weights_, values_;
  std::unordered_map<std::string, std::size_t> last_use_;
  std::unordered_map<std::string, const OnnxValueInfo*> infos_;
  std::set<std::string> warned_;
  bool has_guessed_ = false;
};

}  // namespace

OnnxStep onnx_step(const OnnxGraph& graph, const StepOptions& options,
                   std::optional<std::int64_t> free_axis) {
  std::vector<std::string> warnings;
  DryStep step = steady_step("onnx", options, [&] {
    const auto runner = std::make_shared<OnnxRunner>(graph, options.batch, free_axis, warnings);
    LT_REQUIRE(!runner->parameters().empty(), "the graph has no weights to train");
    return Trained{runner->parameters(), runner->buffers(), [runner] { return runner->batch(); },
                   [runner](const std::vector<Tensor>& inputs) { return runner->loss(inputs); }};
  });
  return {std::move(step), std::move(warnings)};
}

}  // namespace lowtide::estimate
