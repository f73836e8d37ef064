// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "ctdr/dense_model.h"
#include "decompose/cp.h"
#include "decompose/rank_rule.h"
#include "decompose/rewrite.h"
#include "train/run.h"
#include "zoo/data_set.h"

// What each layer of a model could become, with what that costs and gives, measured on the device.

namespace lowtide::ctdr {

using decompose::RankRule;

struct CandidateRules {
  // Of those that a layer can have; a linear or 1x1 layer has only kSvd.
  std::vector<Decomposition> methods = {Decomposition::kSvd, Decomposition::kTucker2,
                                        Decomposition::kCp3};
  // Each is tried.
  std::vector<RankRule> ranks = {{RankRule::Kind::kCompression, 0.5},
                                 {RankRule::Kind::kCompression, 0.25}};
  // Whether weights that are put together in each step are tried too.
  bool has_reconstructed = true;
  // These and nothing else; layers that are not among them stay dense.
  std::optional<Forms> given{};
  // Whether layers whose weights look untrained are decomposed all the same.
  bool takes_untrained = false;
  // Of least squares for CP, at most: with few of them large layers take seconds and not minutes,
  // and the errors are some hundredths larger.
  int cp_sweeps = decompose::kMostSweeps;
};

// One thing that a layer could become.
struct Option {
  LayerForm form;
  // Forward and backward of the layer alone.
  double seconds = 0;
  std::int64_t parameters = 0;
  // Weight, gradient and optimizer states that are saved.
  std::int64_t state_bytes_saved = 0;
  // What the narrow layers in between give backward to keep.
  std::int64_t extra_activation_bytes = 0;
  double relative_error = 0;
  // By how much the loss of a batch rises when this layer alone is changed, with the norms'
  // statistics of that batch.
  double loss_rise = 0;
};

struct LayerOptions {
  LayerInfo info;
  // What the layer is given in a step; without sizes if it is not used.
  decompose::LayerInput input{};
  double dense_seconds = 0;
  std::vector<Option> options{};
  // The weight looks untrained, see decompose::is_noise; then there are no options, unless the
  // rules take such weights.
  bool is_noise = false;
  // Why there is none; empty if there are some.
  std::string reason{};
};

// Looks at every layer. Throws InvalidInput for weights that are not finite, if the weights of all
// layers that could be decomposed look untrained, for a fixed rank that no layer can have, and for
// given forms that their layers cannot have. Nothing is trained.
std::vector<LayerOptions> find_candidates(DenseModel& dense, const zoo::DataSet& data,
                                          const CandidateRules& rules, const train::Hooks& hooks);

}  // namespace lowtide::ctdr
