// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include <string>
#include <vector>

#include <torch/library.h>

#include "base/check.h"
#include "decompose/factors.h"

// Decompositions as operators, for the tests of this folder.

namespace lowtide {
namespace {

LayerForm form_of(const std::string& method, std::vector<std::int64_t> ranks) {
  for (const Decomposition known :
       {Decomposition::kSvd, Decomposition::kTucker2, Decomposition::kCp3, Decomposition::kCp4}) {
    if (to_string(known) == method) return {known, std::move(ranks)};
  }
  throw InvalidInput(base::concat("unknown method: ", method));
}

// The weight that the factors stand for.
at::Tensor approximate(const at::Tensor& weight, const std::string& method,
                       std::vector<std::int64_t> ranks) {
  const auto found = decompose::factorise(weight, form_of(method, std::move(ranks)));
  return decompose::reconstruct(found.factored, weight.sizes());
}

TORCH_LIBRARY(lowtide_decompose, library) { library.def("approximate", &approximate); }

}  // namespace
}  // namespace lowtide
