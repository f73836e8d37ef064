// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "ctdr/choice.h"

// Layers with made-up figures, for tests of what is chosen among them.

namespace lowtide::ctdr {

inline LayerForm svd(std::int64_t rank) { return {Decomposition::kSvd, {rank}}; }

inline LayerChoice choice(const std::string& layer, std::int64_t rank, double seconds,
                          std::int64_t bytes, double rise) {
  return {
      .layer = layer,
      .option =
          Option{
              .form = svd(rank), .seconds = seconds, .state_bytes_saved = bytes, .loss_rise = rise},
      .dense_seconds = 10};
}

inline LayerChoice with_others(LayerChoice layer, std::vector<LayerChoice> others) {
  layer.others = std::move(others);
  return layer;
}

}  // namespace lowtide::ctdr
