// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include "lowtide/session.h"
#include "train/batch_reader.h"
#include "train/named_tensor.h"
#include "train/optimizer.h"
#include "train/schedule.h"
#include "zoo/data_set.h"
#include "zoo/model.h"

namespace lowtide::train {

// What is trained, and how. Together with the number of steps these decide every bit of the result;
// a budget does not.
struct TrainingOptions {
  std::string model;
  zoo::ModelOptions model_options;
  // As zoo::open_data takes it. Empty: fashion-mnist for pictures, tiny-shakespeare for text.
  std::string data;
  std::int64_t batch = 64;
  std::string optimizer = "sgd";
  Schedule schedule;
  bool has_bf16 = false;
  // "cpu", "cuda", "cuda:1".
  std::string device = "cpu";
  std::uint64_t seed = 1;
  // What is done to the new model, on its device, before the optimizer knows it: weights are
  // loaded, layers decomposed. Empty: nothing.
  std::function<void(torch::nn::Module&)> prepare{};
};

// What the model takes as it is without options. Throws InvalidInput if there is no such model.
zoo::InputShape input_of(const std::string& model);

// Opens the data, and fills in what the options leave to it: its name, the number of classes or
// tokens. Throws as zoo::open_data does, and InvalidInput if the options do not go with the data.
std::shared_ptr<const zoo::DataSet> open_data_for(TrainingOptions& options);

struct Evaluation {
  double loss = 0;
  // The share of targets that got the highest score.
  double accuracy = 0;
  std::int64_t examples = 0;
};

// One training: model, optimizer, and where it is in the data. Draws from torch's default
// generators, which it seeds when it is made. A budget holds for it if the session is open before.
class Training {
 public:
  // Requires: the options went through open_data_for, which gave the data. Throws InvalidInput for
  // what the model cannot be.
  Training(const TrainingOptions& options, std::shared_ptr<const zoo::DataSet> data);

  std::int64_t steps_an_epoch() const { return reader_.steps_an_epoch(); }
  std::int64_t steps_done() const { return steps_done_; }
  // How many steps there are to be in all: the schedule goes by that.
  void set_steps(std::int64_t steps) { schedule_.steps = steps; }
  // From the next step on.
  void set_schedule(const Schedule& schedule) { schedule_ = schedule; }

  // The gradients stay until the next one.
  void step();
  // Until the data for it is there, where that is read while the device works: for those who time
  // steps.
  void wait_for_data() { reader_.wait_for(steps_done_); }
  // Of the last step. Waits for the device.
  double loss() const;

  // So many are there for that; 0: none.
  std::int64_t evaluation_examples() const;
  // How the model does on the data's other part; runs each batch through `run`, which is what has a
  // session manage it. Nothing if there is no such data.
  std::optional<Evaluation> evaluate(
      const std::function<void(const std::function<void()>&)>& run) const;

  // Has the norms of batches take their statistics anew, as means over so many batches of the
  // training data, or as many as there are; runs each as evaluate() does. Gives the number of norms
  // that have new ones: without norms, or without a batch, nothing is run or changed.
  std::int64_t settle_norms(std::int64_t batches,
                            const std::function<void(const std::function<void()>&)>& run);

  // Tells the session what parameters, buffers and optimizer states are called and to which layers
  // they belong, for captured steps.
  void name_tensors(Session& session) const;

  // What the further steps depend on, but for the number of steps that are done: parameters,
  // buffers, the optimizer's states, the generators' states.
  State state() const;
  // Of the last step, and its loss.
  State results() const;
  // Takes over what state() gave. Throws InvalidInput if it is that of another training.
  void load(const std::map<std::string, at::Tensor>& state, std::int64_t steps_done);

 private:
  State generators() const;
  Evaluation evaluate_batch(std::int64_t first, std::int64_t count) const;
  void run_forward(std::int64_t first, std::int64_t count) const;

  const TrainingOptions options_;
  const at::Device device_;
  const std::shared_ptr<const zoo::DataSet> data_;
  const zoo::Model model_;
  Schedule schedule_;
  BatchReader reader_;
  State parameters_;
  State buffers_;
  std::unique_ptr<Optimizer> optimizer_;
  std::int64_t steps_done_ = 0;
  at::Tensor loss_;
};

}  // namespace lowtide::train
