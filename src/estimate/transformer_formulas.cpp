// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "estimate/transformer_formulas.h"

#include <algorithm>

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

namespace {

bool is_in(std::string_view layer, std::string_view whole) {
  return layer.starts_with(whole) && (layer.size() == whole.size() || layer[whole.size()] == '.');
}

bool reads_parameters_only(const Trace& trace, const Op& op) {
  return !op.reads.empty() && std::all_of(op.reads.begin(), op.reads.end(), [&](const Use& use) {
    return trace.storage(trace.value(use.value).storage).kind == StorageKind::kParameter;
  });
}

// Made in the layer's forward pass, and there until some op of the backward pass has used it.
bool is_kept_by(const Trace& trace, StorageId id, std::string_view layer) {
  const Storage& storage = trace.storage(id);
  const auto versions = trace.versions(id);
  if (storage.at_start || versions.empty() || !storage.freed_after.valid()) return false;
  const Op& maker = trace.op(trace.value(versions.front()).producer);
  return maker.phase == Phase::kForward && is_in(maker.layer, layer) &&
         !reads_parameters_only(trace, maker) &&
         trace.op(storage.freed_after).phase != Phase::kForward;
}

}  // namespace

CountedFigures counted_figures(const Trace& trace, std::string_view layer) {
  constexpr double kFloatBytes = 4;
  CountedFigures counted;
  for (const Storage& storage : trace.storages()) {
    if (storage.kind != StorageKind::kParameter) continue;
    counted.parameters += static_cast<double>(storage.bytes) / kFloatBytes;
  }
  for (std::size_t i = 0; i < trace.storages().size(); ++i) {
    if (!is_kept_by(trace, make_id<StorageId>(i), layer)) continue;
    counted.layer_activation_bytes += static_cast<double>(trace.storages()[i].bytes);
  }
  for (const Op& op : trace.ops()) {
    counted.flops += static_cast<double>(op.flops);
    const bool has_scores =
        op.phase == Phase::kForward && op.name.ends_with("_softmax") && is_in(op.layer, layer);
    counted.keeps_scores = counted.keeps_scores || has_scores;
  }
  return counted;
}

}  // namespace lowtide::estimate
