// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>

#include <CLI/CLI.hpp>

#include "train/run.h"

// The options that the verbs which train share, so that they read and mean the same.

namespace lowtide::cli {

struct RunChoice {
  train::RunOptions run;
  std::string schedule = "constant";
  std::string amp = "off";
  bool is_only_moved = false;
  bool json = false;
  std::string weights;
  // A file with them.
  std::string forms;
};

// What may be changed about a model.
void add_size_options(CLI::App& verb, zoo::ModelOptions& model);
// MODEL and its sizes, the data, the optimizer, the device.
void add_model_options(CLI::App& verb, RunChoice& choice);
// A start from decomposed weights, or with layers in given forms.
void add_weights_option(CLI::App& verb, RunChoice& choice);
void add_batch_option(CLI::App& verb, RunChoice& choice);
// The learning rate and how it changes.
void add_rate_options(CLI::App& verb, RunChoice& choice);
// How a budget is kept: who plans, and where values may go.
void add_means_options(CLI::App& verb, RunChoice& choice);
// These and --budget.
void add_memory_options(CLI::App& verb, RunChoice& choice);
// All of these but for the weights, the learning rate and --json.
void add_run_options(CLI::App& verb, RunChoice& choice);

// What was asked for, with what was left open filled in: device, learning rate. Throws UsageError
// for an unknown model and for combinations that make no sense; reads the weights.
train::RunOptions resolve(const CLI::App& verb, const RunChoice& choice);

}  // namespace lowtide::cli
