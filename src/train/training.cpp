// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "train/training.h"

#include <algorithm>
#include <mutex>
#include <numeric>
#include <utility>

#include <ATen/ATen.h>
#include <torch/nn/modules/batchnorm.h>

#include "base/check.h"
#include "train/numerics.h"
#include "zoo/catalogue.h"
#include "zoo/scoring.h"
#include "zoo/shapes_only.h"

namespace lowtide::train {
namespace {

// Sets what the data decides, unless the user asked for more.
void fill_in(std::optional<std::int64_t>& option, std::int64_t needed, const char* what) {
  LT_REQUIRE(!option || *option >= needed, "the data has ", needed, " ", what,
             ", but the model is to have ", option.value_or(0));
  if (!option) option = needed;
}

zoo::Model make_seeded(const TrainingOptions& options) {
  at::manual_seed(options.seed);
  zoo::Model model = zoo::make_model(options.model, options.model_options);
  model.module->to(at::Device(options.device));
  if (options.prepare) options.prepare(*model.module);
  return model;
}

template <class Items>
State named(const Items& items) {
  State result;
  for (const auto& item : items) result.push_back({item.key(), item.value()});
  return result;
}

void append(State& to, const std::string& kind, const State& from) {
  for (const NamedTensor& item : from) to.push_back({kind + "/" + item.name, item.tensor});
}

at::Tensor state_of(at::Generator generator) {
  const std::scoped_lock lock(generator.mutex());
  return generator.get_state();
}

void set_state(at::Generator generator, const at::Tensor& state) {
  const std::scoped_lock lock(generator.mutex());
  generator.set_state(state.clone());
}

}  // namespace

zoo::InputShape input_of(const std::string& model) {
  const zoo::ShapesOnly no_memory;
  return zoo::make_model(model).input;
}

std::shared_ptr<const zoo::DataSet> open_data_for(TrainingOptions& options) {
  const zoo::InputShape input = input_of(options.model);
  const bool has_pictures = input.kind == zoo::InputKind::kPictures;
  if (options.data.empty()) options.data = has_pictures ? "fashion-mnist" : "tiny-shakespeare";
  std::shared_ptr<const zoo::DataSet> data = zoo::open_data(options.data, input.kind);
  if (data->classes() > 0) {
    zoo::ModelOptions& model = options.model_options;
    // What is hidden has a number of its own.
    const std::int64_t tokens = data->classes() + (input.is_masked ? 1 : 0);
    fill_in(has_pictures ? model.classes : model.vocabulary, tokens,
            has_pictures ? "classes" : "different characters");
  }
  return data;
}

Training::Training(const TrainingOptions& options, std::shared_ptr<const zoo::DataSet> data)
    : options_(options),
      device_(options.device),
      data_(std::move(data)),
      model_(make_seeded(options)),
      schedule_(options.schedule),
      // On the CPU, batches count towards the budget of the thread that makes them.
      reader_(data_, model_.input,
              zoo::Batches(data_->size(zoo::Part::kTraining, model_.input), options.batch,
                           options.seed),
              device_.is_cpu() ? Reading::kWhenAsked : Reading::kAheadAndPinned),
      parameters_(named(model_.module->named_parameters())),
      buffers_(named(model_.module->named_buffers())),
      optimizer_(make_optimizer(options.optimizer, parameters_)) {}

void Training::step() {
  const zoo::Batch batch = reader_.take(steps_done_);
  // The host need not wait for what a GPU copies from pinned memory.
  const at::Tensor inputs = batch.inputs.to(device_, /*non_blocking=*/true);
  const at::Tensor targets = batch.targets.to(device_, /*non_blocking=*/true);
  for (NamedTensor& parameter : parameters_) parameter.tensor.mutable_grad().reset();
  at::Tensor loss;
  {
    std::optional<Bf16Autocast> autocast;
    if (options_.has_bf16) autocast.emplace(device_.type());
    loss = model_.loss(inputs, targets);
  }
  loss.backward();
  optimizer_->step(schedule_.rate_at(steps_done_));
  loss_ = loss.detach();
  ++steps_done_;
}

double Training::loss() const { return loss_.item<double>(); }

std::int64_t Training::evaluation_examples() const {
  return data_->size(zoo::Part::kEvaluation, model_.input);
}

std::optional<Evaluation> Training::evaluate(
    const std::function<void(const std::function<void()>&)>& run) const {
  const std::int64_t examples = evaluation_examples();
  if (examples == 0) return std::nullopt;
  model_.module->eval();
  Evaluation total;
  for (std::int64_t first = 0; first < examples; first += options_.batch) {
    const std::int64_t count = std::min(options_.batch, examples - first);
    Evaluation part;
    run([&] { part = evaluate_batch(first, count); });
    total.loss += part.loss * static_cast<double>(count);
    total.accuracy += part.accuracy * static_cast<double>(count);
    total.examples += count;
  }
  model_.module->train();
  total.loss /= static_cast<double>(examples);
  total.accuracy /= static_cast<double>(examples);
  return total;
}

Evaluation Training::evaluate_batch(std::int64_t first, std::int64_t count) const {
  const at::NoGradGuard no_grad;
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(count));
  std::iota(numbers.begin(), numbers.end(), first);
  const zoo::Batch batch = data_->batch(zoo::Part::kEvaluation, numbers, model_.input);
  const at::Tensor targets = batch.targets.to(device_);
  std::optional<Bf16Autocast> autocast;
  if (options_.has_bf16) autocast.emplace(device_.type());
  const at::Tensor scores = model_.forward(batch.inputs.to(device_));
  const at::Tensor loss = zoo::mean_cross_entropy(scores, targets, model_.input.kind);
  const at::Tensor best = scores.argmax(model_.input.kind == zoo::InputKind::kTokens ? -1 : 1);
  const at::Tensor counted = targets.ne(zoo::kNoTarget).sum();
  const at::Tensor right = best.eq(targets).sum();
  return {loss.item<double>(), right.item<double>() / std::max(counted.item<double>(), 1.0), count};
}

std::int64_t Training::settle_norms(std::int64_t batches,
                                    const std::function<void(const std::function<void()>&)>& run) {
  std::vector<torch::nn::BatchNorm2dImpl*> norms;
  for (const auto& module : model_.module->modules(/*include_self=*/false)) {
    if (auto* norm = module->as<torch::nn::BatchNorm2dImpl>()) norms.push_back(norm);
  }
  const std::int64_t examples = data_->size(zoo::Part::kTraining, model_.input);
  batches = std::min(batches, examples / options_.batch);
  // Without any they would be left with no statistics at all.
  if (norms.empty() || batches < 1) return 0;
  std::vector<std::optional<double>> momenta;
  for (torch::nn::BatchNorm2dImpl* norm : norms) {
    momenta.push_back(norm->options.momentum());
    norm->options.momentum(std::nullopt);  // the mean over all batches
    norm->reset_running_stats();
  }
  for (std::int64_t i = 0; i < batches; ++i) {
    run([&] { run_forward(i * options_.batch, options_.batch); });
  }
  for (std::size_t i = 0; i < norms.size(); ++i) norms[i]->options.momentum(momenta[i]);
  return static_cast<std::int64_t>(norms.size());
}

void Training::run_forward(std::int64_t first, std::int64_t count) const {
  const at::NoGradGuard no_grad;
  std::vector<std::int64_t> numbers(static_cast<std::size_t>(count));
  std::iota(numbers.begin(), numbers.end(), first);
  const zoo::Batch batch = data_->batch(zoo::Part::kTraining, numbers, model_.input);
  std::optional<Bf16Autocast> autocast;
  if (options_.has_bf16) autocast.emplace(device_.type());
  static_cast<void>(model_.forward(batch.inputs.to(device_)));
}

void Training::name_tensors(Session& session) const {
  for (const State& state : {parameters_, buffers_, optimizer_->state()}) {
    train::name_tensors(state, session);
  }
}

State Training::generators() const {
  State result = {{"cpu", state_of(at::globalContext().defaultGenerator(at::kCPU))}};
  if (!device_.is_cpu()) {
    result.push_back({"device", state_of(at::globalContext().defaultGenerator(device_))});
  }
  return result;
}

State Training::state() const {
  State result;
  append(result, "parameter", parameters_);
  append(result, "buffer", buffers_);
  append(result, "optimizer", optimizer_->state());
  append(result, "generator", generators());
  return result;
}

State Training::results() const {
  State result = {{"loss", loss_}};
  for (const NamedTensor& parameter : parameters_) {
    const at::Tensor& gradient = parameter.tensor.grad();
    if (gradient.defined()) result.push_back({"gradient/" + parameter.name, gradient});
  }
  return result;
}

void Training::load(const std::map<std::string, at::Tensor>& saved, std::int64_t steps_done) {
  const at::NoGradGuard no_grad;
  const State wanted = state();
  for (const NamedTensor& item : wanted) {
    const auto found = saved.find(item.name);
    LT_REQUIRE(found != saved.end() && found->second.sizes() == item.tensor.sizes() &&
                   found->second.scalar_type() == item.tensor.scalar_type(),
               "the checkpoint is of another training: ", item.name,
               " is missing there or has another shape");
  }
  LT_REQUIRE(saved.size() == wanted.size(), "the checkpoint is of another training: it has ",
             saved.size(), " tensors, this one ", wanted.size());
  for (const NamedTensor& item : wanted) {
    if (!item.name.starts_with("generator/")) item.tensor.copy_(saved.at(item.name));
  }
  set_state(at::globalContext().defaultGenerator(at::kCPU), saved.at("generator/cpu"));
  if (!device_.is_cpu()) {
    set_state(at::globalContext().defaultGenerator(device_), saved.at("generator/device"));
  }
  steps_done_ = steps_done;
}

}  // namespace lowtide::train
