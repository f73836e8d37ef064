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
// it does, with as many of them as the simulator says make the step quickest within the budget, and
// of the sets that are as quick, the one that does the least harm.

namespace lowtide::ctdr {

// The best option of a layer, and why.
struct LayerChoice {
  std::string layer;
  // Of dense: none.
  std::optional<Option> option{};
  double dense_seconds = 0;
  // What the option gives, by the time that the layer takes less and what its bytes are worth in
  // the budget (relief.h), over the plain step's time; at most 0: it does not pay.
  double worth = 0;
  std::string reason{};
  // The other options of the layer likewise, those first that are worth the most; they have none.
  std::vector<LayerChoice> others{};
};

// An option of a layer, and what it is worth. `dense`: of the net as it is.
LayerChoice valued(const LayerOptions& layer, const Option& option, const Judgement& dense);

// The best option of each layer, those first whose worth is the most for the rise of the loss.
std::vector<LayerChoice> rank_choices(const std::vector<LayerOptions>& layers,
                                      const Judgement& dense);

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

// Whether a step fits and the other does not, is quicker by more than noise, or, if neither fits,
// comes closer.
bool is_better(const Judgement& one, const Judgement& other);

// Each is some steps of training and a plan.
inline constexpr std::size_t kMostTrials = 24;

// The options that these layers are then said to have taken.
void take_forms(std::vector<LayerChoice>& layers, const Forms& forms);

// How a set of layers does; nothing: the user stopped it.
using Judge = std::function<std::optional<Judgement>(const Forms&)>;

// Looks at all layers that pay together. If that is better than without them, the better half is
// looked at alone, and taken alone if the others hardly add to it; if it is not, each half is
// looked at in turn, down to single layers. Where the budget still costs time, layers that do not
// pay by themselves are looked at in the same way: the narrow tensors in their chains may be what a
// plan wants to keep. Then layers get milder forms or are dense again, those first that give the
// least for their harm, as long as the step is as quick as the quickest but for noise. In the end
// other forms of the layers that are worth most are tried in their places.
// `everywhere`: all that have an option are taken, without asking what pays. Once `most_trials`
// sets were looked at, no other search is begun. Nothing if the user stopped it.
std::optional<Choice> choose(std::vector<LayerChoice> layers, bool everywhere, const Judge& judge,
                             std::size_t most_trials = kMostTrials);

}  // namespace lowtide::ctdr
