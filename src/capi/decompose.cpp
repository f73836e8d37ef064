// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "lowtide/decompose.h"

#include <string>

#include <ATen/ATen.h>
#include <nlohmann/json.hpp>

#include "base/check.h"
#include "capi/calls.h"
#include "decompose/factors.h"
#include "decompose/noise.h"
#include "decompose/rank_rule.h"
#include "lowtide/lowtide.h"

// The part of lowtide/lowtide.h about weights as products of smaller ones.

using lowtide::capi::copy_of;
using lowtide::capi::guarded;
using lowtide::capi::tensor_at;

namespace decompose = lowtide::decompose;

lowtide_status lowtide_choose_form(void* weight, const char* method, const char* rank,
                                   char** form) {
  *form = nullptr;
  return guarded([&] {
    const at::Tensor tensor = tensor_at(weight);
    const decompose::RankRule rule = decompose::parse_rank_rule(rank);
    const auto chosen = decompose::method_for(method, tensor.sizes());
    *form = copy_of(to_string(decompose::form_by(rule, tensor, chosen)));
  });
}

lowtide_status lowtide_is_noise(void* weight, int* is_noise) {
  return guarded([&] { *is_noise = decompose::is_noise(tensor_at(weight)) ? 1 : 0; });
}

lowtide_status lowtide_factor_shapes(const char* form, const int64_t* sizes, int dimensions,
                                     char** json) {
  *json = nullptr;
  return guarded([&] {
    nlohmann::json shapes = nlohmann::json::array();
    const at::IntArrayRef weight_sizes(sizes, static_cast<std::size_t>(dimensions));
    for (const auto& [name, shape] :
         decompose::factor_shapes(lowtide::parse_form(form), weight_sizes)) {
      shapes.push_back({name, shape});
    }
    *json = copy_of(shapes.dump());
  });
}

lowtide_status lowtide_factorise(void* weight, const char* form, void* const* factors, int count,
                                 double* relative_error) {
  return guarded([&] {
    const at::NoGradGuard no_grad;
    const auto found = decompose::factorise(tensor_at(weight), lowtide::parse_form(form));
    const auto& made = found.factored.factors;
    LT_REQUIRE(count == static_cast<int>(made.size()), form, " has ", made.size(), " factors, not ",
               count);
    for (std::size_t i = 0; i < made.size(); ++i) {
      const at::Tensor into = tensor_at(factors[i]);
      LT_REQUIRE(into.sizes() == made[i].tensor.sizes(), "the tensor for ", made[i].name,
                 " has other sizes than lowtide_factor_shapes() tells");
      into.copy_(made[i].tensor);
    }
    *relative_error = found.relative_error;
  });
}
