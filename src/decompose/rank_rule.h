// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

#include <ATen/core/Tensor.h>

#include "decompose/ranks.h"
#include "lowtide/decompose.h"

// Rules for ranks as users write them.

namespace lowtide::decompose {

struct RankRule {
  enum class Kind {
    // `value`: the share of the dense parameters.
    kCompression,
    // `value`: the share of the weight's squares that is left out.
    kEnergy,
    kEvbmf,
    // `value`: the share of the dense parameters of all layers together; one level of energy,
    // weighted by what each layer does to the loss.
    kTotal,
    // The same, `value`: the bytes that weights, gradients and optimizer states of all layers take
    // together.
    kTotalBytes,
    // `value`: the rank; Tucker-2 has it on both sides.
    kFixed,
  };
  Kind kind = Kind::kCompression;
  double value = 0.5;
};

// "evbmf", "energy=0.1", "compression=0.25", "total=0.3", "total=2GiB" or a rank. Throws
// InvalidInput.
RankRule parse_rank_rule(const std::string& text);

// Whether the rule is for all layers together.
bool is_joint(const RankRule& rule);

// Linear and 1x1 layers have no other form than kSvd.
bool is_svd_weight(at::IntArrayRef weight_sizes);

// The method for a weight of these sizes: "auto" is kTucker2 and every name is kSvd where there is
// no other. Throws InvalidInput for an unknown name.
Decomposition method_for(std::string_view name, at::IntArrayRef weight_sizes);

// The form by a rule for one layer. It may have more parameters than the dense weight.
// Requires: not one for all layers together.
LayerForm form_by(const RankRule& rule, const Spectrum& spectrum, Decomposition method);
// The same, where nobody has the spectrum yet: it is only computed for rules that ask for it.
// Throws InvalidInput for those, too.
LayerForm form_by(const RankRule& rule, const at::Tensor& weight, Decomposition method);

}  // namespace lowtide::decompose
