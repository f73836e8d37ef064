// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "ctdr/choice.h"

#include <algorithm>
#include <cstdio>
#include <span>
#include <utility>

#include "base/bytes.h"
#include "base/check.h"

namespace lowtide::ctdr {
namespace {

// Of a simulated step's time: less is noise, since ops are measured anew in each trial.
constexpr double kNoise = 0.02;
// A rise of the loss that is not worth telling from none.
constexpr double kLeastRise = 1e-3;
// Of how many layers other forms are tried, and how many of them.
constexpr std::size_t kVariedLayers = 3;
constexpr std::size_t kVariants = 2;

double worth_of(const Option& option, double dense_seconds, double step_seconds,
                std::int64_t step_bytes) {
  return (dense_seconds - option.seconds) / step_seconds +
         static_cast<double>(option.state_bytes_saved) / static_cast<double>(step_bytes);
}

std::string times_text(double seconds, double dense_seconds) {
  char text[48];
  const double ratio = seconds / std::max(dense_seconds, 1e-12);
  std::snprintf(text, sizeof text, "%.2f of the dense layer's time", ratio);
  return text;
}

std::string reason_of(const LayerChoice& choice) {
  const Option& option = *choice.option;
  const std::string facts =
      base::concat(times_text(option.seconds, choice.dense_seconds), ", ",
                   base::format_bytes(option.state_bytes_saved), " of weights and states saved, ",
                   base::format_bytes(option.extra_activation_bytes), " more activations");
  return choice.worth > 0 ? facts : base::concat("does not pay: ", facts);
}

LayerChoice best_of(const LayerOptions& layer, double step_seconds, std::int64_t step_bytes) {
  std::vector<LayerChoice> all;
  for (const Option& option : layer.options) {
    all.push_back({.layer = layer.info.name,
                   .option = option,
                   .dense_seconds = layer.dense_seconds,
                   .worth = worth_of(option, layer.dense_seconds, step_seconds, step_bytes)});
    all.back().reason = reason_of(all.back());
  }
  if (all.empty()) {
    return {.layer = layer.info.name,
            .option = {},
            .dense_seconds = layer.dense_seconds,
            .reason = layer.reason};
  }
  std::stable_sort(all.begin(), all.end(), [](const LayerChoice& one, const LayerChoice& other) {
    return one.worth > other.worth;
  });
  LayerChoice best = all.front();
  best.others.assign(all.begin() + 1, all.end());
  return best;
}

double merit(const LayerChoice& choice) {
  if (!choice.option) return -1e300;
  // What does not pay comes last, whatever it harms.
  if (choice.worth <= 0) return choice.worth;
  return choice.worth / std::max(choice.option->loss_rise, kLeastRise);
}

bool is_better(const Judgement& one, const Judgement& other) {
  const bool fits = one.planned_seconds.has_value();
  if (fits != other.planned_seconds.has_value()) return fits;
  if (fits) return *one.planned_seconds < (1 - kNoise) * *other.planned_seconds;
  return one.smallest_budget_bytes < other.smallest_budget_bytes;
}

// If another form of the layer was taken, it becomes the layer's choice.
void take_form(LayerChoice& layer, const Forms& forms) {
  const auto found = forms.find(layer.layer);
  if (found == forms.end() || found->second == layer.option->form) return;
  for (LayerChoice& other : layer.others) {
    if (other.option->form != found->second) continue;
    std::swap(layer.option, other.option);
    std::swap(layer.worth, other.worth);
    std::swap(layer.reason, other.reason);
    return;
  }
}

// Layers in a row of those that are ranked.
using Block = std::span<const LayerChoice>;

class Search {
 public:
  Search(const Judge& judge, std::size_t most_trials) : judge_(judge), most_trials_(most_trials) {}

  // Gives whether it came to its end. `reserves`: those that do not pay by themselves.
  bool go(Block layers, Block reserves) {
    if (!look(0, {}) || (!layers.empty() && !consider(layers))) return false;
    if (costs_time() && !reserves.empty() && !consider(reserves)) return false;
    return vary(layers);
  }

  // All of them or none.
  bool take(Block layers) {
    if (!look(0, {})) return false;
    if (layers.empty()) return true;
    if (!look(0, layers)) return false;
    current_ = trials_.size() - 1;
    return true;
  }

  std::vector<Trial> take_trials() { return std::move(trials_); }
  std::size_t current() const { return current_; }

 private:
  // Whether a step takes longer for the budget.
  bool costs_time() const {
    const Judgement& now = trials_[current_].judgement;
    return !now.planned_seconds || *now.planned_seconds > (1 + kNoise) * now.plain_seconds;
  }

  // Puts other forms in the place of those that were taken.
  bool vary(Block layers) {
    std::size_t varied = 0;
    for (const LayerChoice& layer : layers) {
      if (!trials_[current_].forms.contains(layer.layer) || ++varied > kVariedLayers) continue;
      LayerChoice taken = layer;
      for (std::size_t i = 0; i < std::min(kVariants, layer.others.size()); ++i) {
        if (trials_.size() >= most_trials_) return true;
        const LayerChoice& other = layer.others[i];
        if (!look(current_, Block(&other, 1))) return false;
        if (!is_preferable(other, taken)) continue;
        current_ = trials_.size() - 1;
        taken = other;
      }
    }
    return true;
  }

  // Of the last trial, in which one form took the other's place.
  bool is_preferable(const LayerChoice& other, const LayerChoice& taken) const {
    const Judgement &now = trials_[current_].judgement, &then = trials_.back().judgement;
    if (is_better(then, now)) return true;
    const double harm = taken.option->loss_rise;
    return !is_better(now, then) && harm > kLeastRise && other.option->loss_rise <= harm / 2;
  }

  // Judges those of a trial and these together.
  bool look(std::size_t base, Block more) {
    Trial trial;
    if (!trials_.empty()) trial.forms = trials_[base].forms;
    for (const LayerChoice& layer : more) trial.forms[layer.layer] = layer.option->form;
    const std::optional<Judgement> judgement = judge_(trial.forms);
    if (!judgement) return false;
    trial.judgement = *judgement;
    trials_.push_back(std::move(trial));
    return true;
  }

  bool consider(Block block) {
    if (trials_.size() >= most_trials_) return true;
    const std::size_t before = current_;
    if (!look(before, block)) return false;
    const std::size_t all = trials_.size() - 1;
    const Block first = block.first((block.size() + 1) / 2);
    const Block second = block.subspan(first.size());
    if (!is_better(trials_[all].judgement, trials_[before].judgement)) {
      return second.empty() || (consider(first) && consider(second));
    }
    current_ = all;
    if (second.empty() || trials_.size() >= most_trials_) return true;
    // More layers are more harm: they have to be worth it.
    if (!look(before, first)) return false;
    const std::size_t half = trials_.size() - 1;
    if (!is_better(trials_[all].judgement, trials_[half].judgement)) current_ = half;
    return true;
  }

  const Judge& judge_;
  const std::size_t most_trials_;
  std::vector<Trial> trials_;
  std::size_t current_ = 0;
};

}  // namespace

std::vector<LayerChoice> rank_choices(const std::vector<LayerOptions>& layers, double step_seconds,
                                      std::int64_t step_bytes) {
  std::vector<LayerChoice> choices;
  for (const LayerOptions& layer : layers) {
    choices.push_back(best_of(layer, step_seconds, step_bytes));
  }
  std::stable_sort(choices.begin(), choices.end(),
                   [](const LayerChoice& a, const LayerChoice& b) { return merit(a) > merit(b); });
  return choices;
}

std::optional<Choice> choose(std::vector<LayerChoice> layers, bool everywhere, const Judge& judge,
                             std::size_t most_trials) {
  const auto is_candidate = [&](const LayerChoice& layer) {
    return layer.option && (everywhere || layer.worth > 0);
  };
  // Those come first.
  const auto most =
      static_cast<std::size_t>(std::count_if(layers.begin(), layers.end(), is_candidate));
  const Block candidates = Block(layers).first(most);
  const auto with_option = static_cast<std::size_t>(
      std::count_if(layers.begin(), layers.end(),
                    [](const LayerChoice& layer) { return layer.option.has_value(); }));
  const Block reserves = Block(layers).subspan(most, with_option - most);
  Search search(judge, most_trials);
  if (!(everywhere ? search.take(candidates) : search.go(candidates, reserves))) {
    return std::nullopt;
  }
  Choice choice;
  choice.trials = search.take_trials();
  if (choice.trials[search.current()].judgement.planned_seconds) choice.chosen = search.current();
  for (LayerChoice& layer : layers) take_form(layer, choice.trials[search.current()].forms);
  choice.layers = std::move(layers);
  return choice;
}

}  // namespace lowtide::ctdr
