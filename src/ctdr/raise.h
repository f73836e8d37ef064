// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <vector>

#include "ctdr/choice.h"
#include "ctdr/relief.h"

// What decomposed layers become when fine-tuning did not bring the accuracy back.

namespace lowtide::ctdr {

// Measures the ranks of the more sensitive half of the layers raised by half, as further options of
// theirs: what they take, and what they do to the loss. Left out are ranks with which a layer would
// be no smaller, or that it cannot have. `judgement`: of the net as it is.
void add_raised(std::vector<LayerChoice>& layers, const Forms& forms, const Judgement& judgement,
                DenseModel& dense, const zoo::DataSet& data, const CandidateRules& rules,
                const train::Hooks& hooks);

// Higher ranks, or dense layers, so many of them that no more than half of the harm is left: those
// first that give the least for the harm they do.
Forms with_half_the_harm(const std::vector<LayerChoice>& layers, const Forms& forms,
                         const Prices& prices);

}  // namespace lowtide::ctdr
