// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "estimate/transformer_formulas.h"

#include "base/check.h"

namespace lowtide::estimate {

TransformerFigures transformer_figures(const TransformerSize& size) {
  LT_REQUIRE(size.layers > 0 && size.width > 0 && size.heads > 0 && size.context > 0 &&
                 size.vocabulary > 0 && size.batch > 0,
             "a transformer's sizes must be at least 1");
  const auto l = static_cast<double>(size.layers), h = static_cast<double>(size.width);
  const auto a = static_cast<double>(size.heads), s = static_cast<double>(size.context);
  const auto v = static_cast<double>(size.vocabulary), b = static_cast<double>(size.batch);
  const double tokens = s * b * h;
  return {.parameters = 12 * l * h * h * (1 + 13 / (12 * h) + (v + s) / (12 * l * h)),
          .flops = 72 * b * s * l * h * h * (1 + s / (6 * h) + v / (12 * l * h)),
          .layer_activation_bytes = tokens * (34 + 5 * a * s / h),
          .selective_activation_bytes = tokens * 34};
}

CountedFigures counted_figures(const Trace& trace) {
  constexpr double kFloatBytes = 4;
  CountedFigures counted;
  for (const Storage& storage : trace.storages()) {
    if (storage.kind != StorageKind::kParameter) continue;
    counted.parameters += static_cast<double>(storage.bytes) / kFloatBytes;
  }
  for (const Op& op : trace.ops()) counted.flops += static_cast<double>(op.flops);
  return counted;
}

}  // namespace lowtide::estimate
