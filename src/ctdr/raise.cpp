// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "ctdr/raise.h"

#include <algorithm>
#include <string>

#include "decompose/ranks.h"
#include "lowtide/errors.h"

namespace lowtide::ctdr {
namespace {

double harm_in(const LayerChoice& layer, const Forms& forms) {
  const LayerChoice* taken = choice_in(layer, forms.at(layer.layer));
  return taken ? harm_of(*taken->option) : 0;
}

// Those that are decomposed and do the most harm.
std::vector<LayerChoice*> sensitive_half(std::vector<LayerChoice>& layers, const Forms& forms) {
  std::vector<LayerChoice*> found;
  for (LayerChoice& layer : layers) {
    if (forms.contains(layer.layer)) found.push_back(&layer);
  }
  std::stable_sort(found.begin(), found.end(),
                   [&](const LayerChoice* one, const LayerChoice* other) {
                     return harm_in(*one, forms) > harm_in(*other, forms);
                   });
  found.resize((found.size() + 1) / 2);
  return found;
}

bool is_possible(DenseModel& dense, const std::string& layer, const LayerForm& form) {
  try {
    if (!decompose::is_smaller(form, dense.spectrum(layer))) return false;
    static_cast<void>(dense.factors(layer, form));
    return true;
  } catch (const InvalidInput&) {
    return false;  // a rank beyond the layer's, or terms that cancel each other
  }
}

}  // namespace

void add_raised(std::vector<LayerChoice>& layers, const Forms& forms, const Judgement& judgement,
                DenseModel& dense, const zoo::DataSet& data, const CandidateRules& rules,
                const train::Hooks& hooks) {
  CandidateRules raised = rules;
  raised.given.emplace();
  for (const LayerChoice* layer : sensitive_half(layers, forms)) {
    const LayerForm form =
        decompose::raised_form(forms.at(layer->layer), dense.spectrum(layer->layer));
    if (choice_in(*layer, form) || !is_possible(dense, layer->layer, form)) continue;
    (*raised.given)[layer->layer] = form;
  }
  if (raised.given->empty()) return;
  for (const LayerOptions& found : find_candidates(dense, data, raised, hooks)) {
    for (const Option& option : found.options) {
      const auto own = std::find_if(layers.begin(), layers.end(), [&](const LayerChoice& layer) {
        return layer.layer == found.info.name;
      });
      if (own != layers.end()) own->others.push_back(valued(found, option, judgement));
    }
  }
}

Forms with_half_the_harm(const std::vector<LayerChoice>& layers, const Forms& forms,
                         const Prices& prices) {
  const double most = harm_of(layers, forms) / 2;
  const auto is_enough = [&](const std::vector<Relief>& reliefs) {
    return harm_of(layers, with_reliefs(forms, reliefs)) <= most;
  };
  std::vector<Relief> taken;
  for (Relief& relief : reliefs_of(layers, forms, prices)) {
    taken.push_back(std::move(relief));
    if (is_enough(taken)) break;
  }
  // Small ones may have come first that are not needed beside a large one.
  for (std::size_t i = taken.size(); i-- > 0;) {
    std::vector<Relief> fewer = taken;
    fewer.erase(fewer.begin() + static_cast<std::ptrdiff_t>(i));
    if (is_enough(fewer)) taken = std::move(fewer);
  }
  return with_reliefs(forms, taken);
}

}  // namespace lowtide::ctdr
