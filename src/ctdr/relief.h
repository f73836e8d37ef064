// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "ctdr/choice.h"

// How decomposed layers get forms that harm less, or become dense again, in the order in which the
// least is given up for the harm that is undone. By this a choice is made milder where that costs
// no time, and a net is that fine-tuning did not bring back.

namespace lowtide::ctdr {

// What counts as a gain of a form, in seconds of a step.
struct Prices {
  // Of each second that the layer alone takes less.
  double second = 1;
  // Of each byte of weights and states.
  double byte = 0;
};

// A byte is worth what the plan for the budget costs over what the plain step has too many. Without
// such a plan, or a plan that has to do nothing, the whole memory is worth the whole time.
Prices prices_of(const Judgement& judgement);

double gain_of(const Option& option, double dense_seconds, const Prices& prices);

// The rise of the loss, and a little for the error, so that no lossy form is free of it.
double harm_of(const Option& option);
// Of the layers in these forms, each by itself.
double harm_of(const std::vector<LayerChoice>& layers, const Forms& forms);

// The option that is the layer's form; nullptr: none is known.
const LayerChoice* choice_in(const LayerChoice& layer, const LayerForm& form);

// One layer gets another form.
struct Relief {
  std::string layer;
  // Dense: no method.
  LayerForm form{};
  // In seconds of a step; below 0: nothing is given up.
  double gain_lost = 0;
  double harm_undone = 0;
};

// Those of layers that have these forms, down to all of them dense. Applied one after the other
// from the first on, each is the one that undoes the most harm for what it gives up.
std::vector<Relief> reliefs_of(const std::vector<LayerChoice>& layers, const Forms& forms,
                               const Prices& prices);

Forms with_reliefs(Forms forms, std::span<const Relief> reliefs);

}  // namespace lowtide::ctdr
