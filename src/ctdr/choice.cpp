// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "ctdr/choice.h"

#include <algorithm>
#include <cstdio>
#include <span>
#include <utility>

#include "base/bytes.h"
#include "base/check.h"
#include "ctdr/relief.h"

namespace lowtide::ctdr {
namespace {

// Of a simulated step's time: less is noise, since ops are measured anew in each trial.
constexpr double kNoise = 0.02;
// A rise of the loss that is not worth telling from none.
constexpr double kLeastRise = 1e-3;
// Of how many layers other forms are tried, and how many of them.
constexpr std::size_t kVariedLayers = 3;
constexpr std::size_t kVariants = 2;

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

LayerChoice best_of(const LayerOptions& layer, const Judgement& dense) {
  std::vector<LayerChoice> all;
  for (const Option& option : layer.options) all.push_back(valued(layer, option, dense));
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

// Layers in a row of those that are ranked.
using Block = std::span<const LayerChoice>;

class Search {
 public:
  Search(const Judge& judge, std::size_t most_trials) : judge_(judge), most_trials_(most_trials) {}

  // Gives whether it came to its end. Of all layers the first so many pay by themselves.
  bool go(Block all, std::size_t paying) {
    const Block layers = all.first(paying), reserves = all.subspan(paying);
    if (!look(0, {}) || (!layers.empty() && !consider(layers))) return false;
    if (costs_time() && !reserves.empty() && !consider(reserves)) return false;
    return relieve(all) && vary(layers);
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

  // As quick as the quickest that was found, and still worth it.
  bool is_as_quick(const Judgement& one, const Judgement& quickest) const {
    return !is_better(quickest, one) && is_better(one, trials_.front().judgement);
  }

  // Undoes harm where that costs no time.
  bool relieve(Block layers) {
    const Judgement quickest = trials_[current_].judgement;
    if (!quickest.planned_seconds) return true;
    const std::vector<Relief> all =
        reliefs_of({layers.begin(), layers.end()}, trials_[current_].forms, prices_of(quickest));
    // So many that together they cost no more than noise, by what their layers take alone.
    std::vector<Relief> some;
    double lost = 0;
    for (const Relief& relief : all) {
      lost += relief.gain_lost;
      if (lost > kNoise * *quickest.planned_seconds) break;
      if (relief.harm_undone > kLeastRise || relief.gain_lost < 0) some.push_back(relief);
    }
    return some.empty() || undo(some, quickest);
  }

  // All of them, or, if that is slower, those of each half that are not.
  bool undo(std::span<const Relief> reliefs, const Judgement& quickest) {
    if (trials_.size() >= most_trials_) return true;
    if (!look(with_reliefs(trials_[current_].forms, reliefs))) return false;
    if (is_as_quick(trials_.back().judgement, quickest)) {
      current_ = trials_.size() - 1;
      return true;
    }
    if (reliefs.size() == 1) return true;
    const std::span<const Relief> first = reliefs.first((reliefs.size() + 1) / 2);
    return undo(first, quickest) && undo(reliefs.subspan(first.size()), quickest);
  }

  // Puts other forms in the place of those that were taken.
  bool vary(Block layers) {
    std::size_t varied = 0;
    for (const LayerChoice& layer : layers) {
      if (!trials_[current_].forms.contains(layer.layer) || ++varied > kVariedLayers) continue;
      for (std::size_t i = 0; i < std::min(kVariants, layer.others.size()); ++i) {
        if (trials_.size() >= most_trials_) return true;
        const LayerChoice& other = layer.others[i];
        if (trials_[current_].forms.at(layer.layer) == other.option->form) continue;
        if (!look(current_, Block(&other, 1))) return false;
        const Judgement &now = trials_[current_].judgement, &then = trials_.back().judgement;
        if (is_better(then, now)) current_ = trials_.size() - 1;
      }
    }
    return true;
  }

  // Judges those of a trial and these together.
  bool look(std::size_t base, Block more) {
    Forms forms;
    if (!trials_.empty()) forms = trials_[base].forms;
    for (const LayerChoice& layer : more) forms[layer.layer] = layer.option->form;
    return look(std::move(forms));
  }

  bool look(Forms forms) {
    const std::optional<Judgement> judgement = judge_(forms);
    if (!judgement) return false;
    trials_.push_back({std::move(forms), *judgement});
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

LayerChoice valued(const LayerOptions& layer, const Option& option, const Judgement& dense) {
  const double gain = gain_of(option, layer.dense_seconds, prices_of(dense));
  LayerChoice result = {.layer = layer.info.name,
                        .option = option,
                        .dense_seconds = layer.dense_seconds,
                        .worth = gain / dense.plain_seconds};
  result.reason = reason_of(result);
  return result;
}

std::vector<LayerChoice> rank_choices(const std::vector<LayerOptions>& layers,
                                      const Judgement& dense) {
  std::vector<LayerChoice> choices;
  for (const LayerOptions& layer : layers) choices.push_back(best_of(layer, dense));
  std::stable_sort(choices.begin(), choices.end(),
                   [](const LayerChoice& a, const LayerChoice& b) { return merit(a) > merit(b); });
  return choices;
}

bool is_better(const Judgement& one, const Judgement& other) {
  const bool fits = one.planned_seconds.has_value();
  if (fits != other.planned_seconds.has_value()) return fits;
  if (fits) return *one.planned_seconds < (1 - kNoise) * *other.planned_seconds;
  return one.smallest_budget_bytes < other.smallest_budget_bytes;
}

void take_forms(std::vector<LayerChoice>& layers, const Forms& forms) {
  for (LayerChoice& layer : layers) {
    const auto found = forms.find(layer.layer);
    if (found == forms.end() || !layer.option || found->second == layer.option->form) continue;
    for (LayerChoice& other : layer.others) {
      if (other.option->form != found->second) continue;
      std::swap(layer.option, other.option);
      std::swap(layer.dense_seconds, other.dense_seconds);
      std::swap(layer.worth, other.worth);
      std::swap(layer.reason, other.reason);
      break;
    }
  }
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
  Search search(judge, most_trials);
  const Block all = Block(layers).first(with_option);
  if (!(everywhere ? search.take(all.first(most)) : search.go(all, most))) {
    return std::nullopt;
  }
  Choice choice;
  choice.trials = search.take_trials();
  if (choice.trials[search.current()].judgement.planned_seconds) choice.chosen = search.current();
  take_forms(layers, choice.trials[search.current()].forms);
  choice.layers = std::move(layers);
  return choice;
}

}  // namespace lowtide::ctdr
