// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "ctdr/candidates.h"
#include "ctdr/judge.h"

// Which layers are decomposed, and how: greedily by what a layer's best option gives for the harm
// it does, with as many of them as the simulator says make the step quickest within the budget.

namespace lowtide::ctdr {

// The best option of a layer, and why.
struct LayerChoice {
  std::string layer;
  // Of dense: none.
  std::optional<Option> option{};
  double dense_seconds = 0;
  // Shares of the plain step's time and memory that the option saves, together; at most 0: it does
  // not pay.
  double worth = 0;
  std::string reason{};
  // The other options of the layer likewise, those first that are worth the most; they have none.
  std::vector<LayerChoice> others{};
};

// The best option of each layer, those first whose worth is the most for the rise of the loss.
// `step_seconds` and `step_bytes`: of the plain step.
std::vector<LayerChoice> rank_choices(const std::vector<LayerOptions>& layers, double step_seconds,
                                      std::int64_t step_bytes);

// One set of decomposed layers that was looked at.
struct Trial {
  Forms forms{};
  Judgement judgement{};
};

struct Choice {
  // In the order in which layers were taken.
  std::vector<LayerChoice> layers;
  // In the order in which they were looked at; the first is the dense net.
  std::vector<Trial> trials;
  // Index of the trial that was chosen; nothing: none keeps the budget.
  std::optional<std::size_t> chosen;
};

// Each is some steps of training and a plan.
inline constexpr std::size_t kMostTrials = 24;

// How a set of layers does; nothing: the user stopped it.
using Judge = std::function<std::optional<Judgement>(const Forms&)>;

// Looks at all layers that pay together. If that is better than without them, the better half is
// looked at alone, and taken alone if the others hardly add to it; if it is not, each half is
// looked at in turn, down to single layers. Better: it fits and the other does not, it is quicker
// by more than noise, or, if neither fits, it comes closer. Where the budget still costs time,
// layers that do not pay by themselves are looked at in the same way: the narrow tensors in their
// chains may be what a plan wants to keep. In the end other forms of the layers that are worth most
// are tried in their places: one is taken if it is better, or no worse and half as harmful.
// `everywhere`: all that have an option are taken, without asking what pays. Once `most_trials`
// sets were looked at, no other search is begun. Nothing if the user stopped it.
std::optional<Choice> choose(std::vector<LayerChoice> layers, bool everywhere, const Judge& judge,
                             std::size_t most_trials = kMostTrials);

}  // namespace lowtide::ctdr
