// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "ctdr/relief.h"

#include <algorithm>
#include <limits>

namespace lowtide::ctdr {
namespace {

// Of the loss, at an error as large as the weight.
constexpr double kRiseOfError = 1e-3;

// What a layer could be; dense: neither gain nor harm.
struct State {
  LayerForm form{};
  double gain = 0;
  double harm = 0;
};

double ratio_of(const Relief& relief) {
  if (relief.gain_lost <= 0) return std::numeric_limits<double>::infinity();
  return relief.harm_undone / relief.gain_lost;
}

// Whether the one is to be gone to rather than the other; both do less harm than where it starts.
// Among those that give up nothing, the mildest.
bool is_rather(const Relief& one, const Relief& other) {
  const double a = ratio_of(one), b = ratio_of(other);
  if (a != b) return a > b;
  return one.harm_undone > other.harm_undone;
}

class Layer {
 public:
  Layer(const LayerChoice& layer, const LayerForm& form, const Prices& prices)
      : name_(layer.layer) {
    states_.push_back({});
    add(layer, prices);
    for (const LayerChoice& other : layer.others) add(other, prices);
    for (const State& state : states_) {
      if (state.form == form) now_ = state;
    }
  }

  // From its form to dense. The ratios fall from one to the next, as along a convex hull.
  std::vector<Relief> go() {
    std::vector<Relief> found;
    while (const std::optional<Relief> next = best()) {
      found.push_back(*next);
      now_ = {next->form, now_.gain - next->gain_lost, now_.harm - next->harm_undone};
    }
    return found;
  }

 private:
  void add(const LayerChoice& choice, const Prices& prices) {
    if (!choice.option) return;
    states_.push_back({choice.option->form, gain_of(*choice.option, choice.dense_seconds, prices),
                       harm_of(*choice.option)});
  }

  std::optional<Relief> best() const {
    std::optional<Relief> result;
    if (now_.form.method == Decomposition::kDense) return result;
    for (const State& state : states_) {
      const bool is_dense = state.form.method == Decomposition::kDense;
      // What gives nothing is no better than dense.
      if (!is_dense && (state.gain <= 0 || state.harm >= now_.harm)) continue;
      const Relief relief = {name_, state.form, now_.gain - state.gain, now_.harm - state.harm};
      if (!result || is_rather(relief, *result)) result = relief;
    }
    return result;
  }

  std::string name_;
  std::vector<State> states_;
  State now_;
};

}  // namespace

Prices prices_of(const Judgement& judgement) {
  // That of the budget, where there is a plan.
  const std::int64_t missing = judgement.plain_peak_bytes - judgement.smallest_budget_bytes;
  if (!judgement.planned_seconds || missing <= 0) {
    const auto bytes = static_cast<double>(std::max<std::int64_t>(judgement.plain_peak_bytes, 1));
    return {.byte = judgement.plain_seconds / bytes};
  }
  const double cost = std::max(*judgement.planned_seconds - judgement.plain_seconds, 0.0);
  return {.byte = cost / static_cast<double>(missing)};
}

double gain_of(const Option& option, double dense_seconds, const Prices& prices) {
  return prices.second * (dense_seconds - option.seconds) +
         prices.byte * static_cast<double>(option.state_bytes_saved);
}

double harm_of(const Option& option) {
  return option.loss_rise + kRiseOfError * option.relative_error * option.relative_error;
}

double harm_of(const std::vector<LayerChoice>& layers, const Forms& forms) {
  double sum = 0;
  for (const LayerChoice& layer : layers) {
    const auto found = forms.find(layer.layer);
    if (found == forms.end()) continue;
    if (const LayerChoice* taken = choice_in(layer, found->second)) sum += harm_of(*taken->option);
  }
  return sum;
}

const LayerChoice* choice_in(const LayerChoice& layer, const LayerForm& form) {
  if (layer.option && layer.option->form == form) return &layer;
  for (const LayerChoice& other : layer.others) {
    if (other.option->form == form) return &other;
  }
  return nullptr;
}

std::vector<Relief> reliefs_of(const std::vector<LayerChoice>& layers, const Forms& forms,
                               const Prices& prices) {
  std::vector<Relief> all;
  for (const LayerChoice& layer : layers) {
    const auto found = forms.find(layer.layer);
    if (found == forms.end()) continue;
    for (Relief& relief : Layer(layer, found->second, prices).go()) {
      all.push_back(std::move(relief));
    }
  }
  std::stable_sort(all.begin(), all.end(), [](const Relief& one, const Relief& other) {
    return ratio_of(one) > ratio_of(other);
  });
  return all;
}

Forms with_reliefs(Forms forms, std::span<const Relief> reliefs) {
  for (const Relief& relief : reliefs) {
    if (relief.form.method == Decomposition::kDense) {
      forms.erase(relief.layer);
    } else {
      forms[relief.layer] = relief.form;
    }
  }
  return forms;
}

}  // namespace lowtide::ctdr
