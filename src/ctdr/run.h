// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "ctdr/candidates.h"
#include "ctdr/choice.h"
#include "ctdr/recovery.h"
#include "lowtide/machine.h"
#include "train/max_batch.h"
#include "train/run.h"

// CTDR: tensor decomposition and recomputation together. The weights of a trained model are
// decomposed where that pays in the time or the memory of a step under a plan for the budget, and
// fine-tuning brings the accuracy back. What a model computes changes, so nothing here happens but
// on request.

namespace lowtide::ctdr {

struct Options {
  // training, memory with its budget ("40%": of the dense net's plain peak; empty: none), and
  // checkpoint: where the trained weights are. Without a checkpoint the dense net is trained first,
  // for `epochs` rounds through the data.
  train::RunOptions run;
  CandidateRules rules;
  // All layers that can be are decomposed, whether that pays or not.
  bool everywhere = false;
  // As a share: 0.005 is half a point.
  double most_accuracy_loss = 0.005;
  // Rounds of fine-tuning through the data, each time.
  std::int64_t fine_tuning_epochs = 1;
  double rate_share = 0.1;
  // How often ranks are raised, or layers made dense again, when the accuracy is not back.
  int raises = 2;
  // Whose links plans count on; ops are measured on the device.
  Machine machine;
  double think_seconds = 10;
  // Sets of layers that are looked at, each with a captured step and a plan.
  std::size_t most_trials = kMostTrials;
  // If set, the largest batch that the net trains with in so much memory is looked for in the end.
  std::string batch_budget;
  // Where the weights go in the end; empty: nowhere. Merged: as the dense net has them.
  std::string output;
  bool is_merged = false;
};

// A fine-tuning that did not bring the accuracy back; then ranks were raised, or all is dense.
struct Attempt {
  std::size_t layers = 0;
  std::int64_t parameters = 0;
  Recovery recovery;
};

struct Report {
  train::TrainingOptions training;
  std::int64_t budget_bytes = 0;
  std::optional<train::Evaluation> before;
  // Layers whose weights look untrained.
  std::vector<std::string> untrained;
  // What all layers could become, and which are taken.
  Choice choice;
  // What they are in the end: ranks may have been raised.
  Forms forms;
  // Layers that were decomposed and fine-tuned, and are dense again, since that did not bring the
  // accuracy back.
  std::set<std::string> undone;
  std::int64_t dense_parameters = 0;
  std::int64_t parameters = 0;
  // The last, with the ranks at the end.
  std::optional<Recovery> recovery;
  std::vector<Attempt> attempts;
  int raises = 0;
  std::optional<train::MaxBatch> max_batch;
  // The file that the weights of `forms` are in; empty: none was asked for, or it is not yet there.
  std::string written;
  // Where the user stopped it: "while higher ranks were tried"; empty: it came to its end. If there
  // is a recovery then, this report is of the last forms that were fine-tuned.
  std::string stopped;

  // Whether there is anything to tell of: fine-tuned forms, or that the net stays as it was.
  bool has_result() const { return recovery || (choice.chosen && forms.empty()); }
  const Trial& dense() const { return choice.trials.front(); }
  const Trial& chosen() const { return choice.trials[*choice.chosen]; }
};

// Throws OutOfMemory, with the nearest budget that works, if no choice keeps the budget, and else
// as train::run() does.
Report run(Options options, const train::Hooks& hooks);

// The trained dense net: from the checkpoint, or trained now inside the budget.
struct TrainedNet {
  train::State state;
  train::Evaluation evaluation;
};
std::optional<TrainedNet> trained_net(const train::RunOptions& options, std::int64_t budget_bytes,
                                      const std::shared_ptr<const zoo::DataSet>& data,
                                      const train::Hooks& hooks);

}  // namespace lowtide::ctdr
