// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "cli/torch/run_options.h"

#include <limits>

#include <torch/cuda.h>

#include "base/bytes.h"
#include "base/check.h"
#include "base/suggest.h"
#include "cli/exit_code.h"
#include "cli/inputs.h"
#include "cli/option_checks.h"
#include "cli/verb_options.h"
#include "ctdr/forms_file.h"
#include "ctdr/weights_file.h"
#include "train/optimizer.h"
#include "train/optimizer_names.h"

namespace lowtide::cli {
namespace {

constexpr const char* kRate = "--lr";
constexpr const char* kSchedule = "--schedule";
constexpr const char* kWarmUp = "--warmup";
constexpr const char* kTrainingGroup = "Training";
constexpr const char* kMemoryGroup = "Memory";

template <class Value>
CLI::Option* add(CLI::App& verb, const char* name, Value& value, const std::string& help,
                 const char* type) {
  return verb.add_option(name, value, help)->type_name(type);
}

std::string resolve_device(const std::string& device) {
  if (device.empty()) return torch::cuda::is_available() ? "cuda" : "cpu";
  try {
    const at::Device parsed(device);
    if (parsed.is_cpu() || parsed.is_cuda()) return device;
  } catch (const c10::Error&) {
    // Said below, in one line.
  }
  throw UsageError("unknown device '" + device + "'; known are cpu, cuda and cuda:N");
}

bool is_given(const CLI::App& verb, const char* option) {
  const CLI::Option* found = verb.get_option_no_throw(option);
  return found != nullptr && found->count() > 0;
}

// The schedule, and what of it was named.
void resolve_schedule(const CLI::App& verb, const RunChoice& choice, train::RunOptions& run) {
  train::Schedule& schedule = run.training.schedule;
  schedule.kind = train::parse_schedule(choice.schedule);
  if (is_given(verb, kSchedule)) run.asked.kind = schedule.kind;
  if (is_given(verb, kWarmUp)) run.asked.warm_up_steps = schedule.warm_up_steps;
  if (is_given(verb, kRate)) {
    run.asked.rate = schedule.rate;
  } else {
    schedule.rate = train::default_rate(run.training.optimizer);
  }
}

}  // namespace

void add_size_options(CLI::App& verb, zoo::ModelOptions& model) {
  const char* const group = "Model";
  add(verb, "--channels", model.channels, "Channels of pictures", "N")->group(group);
  add(verb, "--size", model.size, "Height and width of pictures", "N")->group(group);
  add(verb, "--classes", model.classes, "Classes (default: those of the data)", "N")->group(group);
  add(verb, "--layers", model.layers, "Layers", "N")->group(group);
  add(verb, "--width", model.width, "Channels or features", "N")->group(group);
  add(verb, "--heads", model.heads, "Heads of attention", "N")->group(group);
  add(verb, "--context", model.context, "Tokens in a text", "N")->group(group);
  add(verb, "--vocabulary", model.vocabulary, "Different tokens (default: those of the data)", "N")
      ->group(group);
  add(verb, "--auxiliary", model.auxiliary,
      "on or off: whether heads on the way have their part in the loss (default: on, for a model "
      "that has them)",
      "NAME")
      ->check(one_of({"on", "off"}))
      ->group(group);
  add(verb, "--dropout", model.dropout, "Share of activations that is left out", "X")->group(group);
}

void add_model_options(CLI::App& verb, RunChoice& choice) {
  train::TrainingOptions& training = choice.run.training;
  training.device.clear();
  add(verb, "MODEL", training.model, "What to train; 'lowtide models' lists them", "")->required();
  add(verb, "--data", training.data,
      "fashion-mnist, fashion-mnist-full, tiny-shakespeare, synthetic, a folder of IDX files or a "
      "text file (default: by the model)",
      "NAME|PATH")
      ->check(not_empty())
      ->group(kTrainingGroup);
  add(verb, "--optimizer", training.optimizer,
      base::concat(base::join(train::optimizer_names()), " (default: sgd)"), "NAME")
      ->check(one_of(train::optimizer_names()))
      ->group(kTrainingGroup);
  add(verb, "--amp", choice.amp, "off or bf16 (default: off)", "NAME")
      ->check(one_of({"off", "bf16"}))
      ->group(kTrainingGroup);
  add(verb, "--seed", training.seed, "What all randomness comes from (default: 1)", "N")
      ->check(whole_number(0, std::numeric_limits<std::int64_t>::max()))
      ->group(kTrainingGroup);
  add(verb, "--device", training.device, "cpu, cuda or cuda:N (default: the first GPU, or cpu)",
      "NAME")
      ->check(not_empty())
      ->group(kTrainingGroup);
  add_size_options(verb, training.model_options);
}

void add_weights_option(CLI::App& verb, RunChoice& choice) {
  add(verb, "--weights", choice.weights,
      "Start from what 'lowtide decompose -o' wrote, with the layers decomposed as they are there",
      "FILE")
      ->check(not_empty())
      ->group("Model");
  add(verb, "--forms", choice.forms,
      "Start with layers decomposed as this file says, with random factors: a JSON object such as "
      "{\"conv1\": \"tucker2 16x24\"}",
      "FILE")
      ->check(not_empty())
      ->excludes("--weights")
      ->group("Model");
}

void add_batch_option(CLI::App& verb, RunChoice& choice) {
  add(verb, "--batch", choice.run.training.batch, "Examples in a batch (default: 64)", "N")
      ->check(whole_number(1))
      ->group(kTrainingGroup);
}

void add_rate_options(CLI::App& verb, RunChoice& choice) {
  train::Schedule& schedule = choice.run.training.schedule;
  add(verb, kRate, schedule.rate, "Learning rate (default: 0.05 for sgd, else 0.001)", "X")
      ->check(positive_number())
      ->group(kTrainingGroup);
  add(verb, kSchedule, choice.schedule, "constant, cosine or step (default: constant)", "NAME")
      ->check(one_of({"constant", "cosine", "step"}))
      ->group(kTrainingGroup);
  add(verb, kWarmUp, schedule.warm_up_steps, "Steps in which the rate grows", "N")
      ->check(whole_number(0))
      ->group(kTrainingGroup);
}

void add_means_options(CLI::App& verb, RunChoice& choice) {
  train::MemoryOptions& memory = choice.run.memory;
  const char* const group = kMemoryGroup;
  add(verb, "--policy,-p", memory.policy,
      "Who plans: auto, online, or one of 'lowtide policies' (default: auto)", "NAME")
      ->group(group);
  add(verb, "--tiers", memory.tiers,
      "Where values may be moved to: none (they are only recomputed), host or host,disk (default: "
      "host)",
      "LIST")
      ->check(one_of({"none", "host", "host,disk"}))
      ->group(group);
  verb.add_flag("--no-recompute", choice.is_only_moved,
                "Values are only moved, never computed again")
      ->group(group);
  add(verb, "--host-cap", memory.host_cap,
      "Host memory for moved values: 8GiB, 512MiB (default: half of the machine's)", "SIZE")
      ->check(not_empty())
      ->group(group);
  add(verb, "--spill-dir", memory.spill_dir, "A folder on a fast disk, for the tier disk", "DIR")
      ->check(not_empty())
      ->group(group);
}

void add_memory_options(CLI::App& verb, RunChoice& choice) {
  add_budget_option(verb, choice.run.memory.budget, "SIZE")
      ->check(not_empty())
      ->group(kMemoryGroup);
  add_means_options(verb, choice);
}

void add_run_options(CLI::App& verb, RunChoice& choice) {
  add_model_options(verb, choice);
  add_batch_option(verb, choice);
  add_rate_options(verb, choice);
  add_memory_options(verb, choice);
  add_json_option(verb, choice.json);
}

train::RunOptions resolve(const CLI::App& verb, const RunChoice& choice) {
  train::RunOptions run = choice.run;
  train::TrainingOptions& training = run.training;
  run.memory.may_recompute = !choice.is_only_moved;
  training.has_bf16 = choice.amp == "bf16";
  training.device = resolve_device(training.device);
  resolve_schedule(verb, choice, run);
  try {
    static_cast<void>(train::input_of(training.model));
    static_cast<void>(train::session_options(run.memory, 0, training.device));
  } catch (const InvalidInput& error) {
    throw UsageError(error.what());
  }
  if (!run.memory.budget.empty()) require_budget(run.memory.budget);
  if (!choice.forms.empty()) {
    training.prepare = ctdr::forms_starter(ctdr::read_forms(choice.forms));
  }
  if (!choice.weights.empty()) {
    training.prepare = ctdr::weights_loader(choice.weights, training.model);
  }
  return run;
}

}  // namespace lowtide::cli
