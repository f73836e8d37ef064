// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "decompose/rank_rule.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <optional>

#include "base/bytes.h"
#include "base/check.h"
#include "base/numbers.h"
#include "decompose/factors.h"

namespace lowtide::decompose {
namespace {

RankRule fixed(const std::string& text) {
  const std::optional<double> rank = base::parse_number<double>(text);
  LT_REQUIRE(rank.has_value(), "unknown rank '", text,
             "'; known are evbmf, energy=X, compression=X, total=X and a whole number");
  LT_REQUIRE(*rank >= 1 && *rank == std::floor(*rank) && *rank < 1e15,
             "a rank must be a whole number of at least 1, not ", text, "; the nearest is ",
             static_cast<std::int64_t>(std::clamp(std::round(*rank), 1.0, 1e15)));
  return {RankRule::Kind::kFixed, *rank};
}

RankRule total_bytes(const std::string& size) {
  const std::int64_t bytes = base::parse_bytes(size);
  LT_REQUIRE(bytes > 0, "total must be a share or a size, such as total=0.5 or total=2GiB, not ",
             size);
  return {RankRule::Kind::kTotalBytes, static_cast<double>(bytes)};
}

}  // namespace

RankRule parse_rank_rule(const std::string& text) {
  const std::size_t equals = text.find('=');
  const std::string name = text.substr(0, equals);
  if (text == "evbmf") return {RankRule::Kind::kEvbmf, 0};
  if (equals == std::string::npos) return fixed(text);
  const std::string amount = text.substr(equals + 1);
  const std::optional<double> share = base::parse_number<double>(amount);
  if (name == "total" && !share) return total_bytes(amount);
  LT_REQUIRE(name == "energy" || name == "compression" || name == "total", "unknown rank rule '",
             name, "'; known are energy, compression and total");
  LT_REQUIRE(share && *share > 0 && *share < 1, name, " must be between 0 and 1, such as ", name,
             "=0.5, not ", amount);
  if (name == "total") return {RankRule::Kind::kTotal, *share};
  return {name == "energy" ? RankRule::Kind::kEnergy : RankRule::Kind::kCompression, *share};
}

bool is_joint(const RankRule& rule) {
  return rule.kind == RankRule::Kind::kTotal || rule.kind == RankRule::Kind::kTotalBytes;
}

bool is_svd_weight(at::IntArrayRef sizes) {
  return sizes.size() == 2 || (sizes.size() == 4 && sizes[2] == 1 && sizes[3] == 1);
}

Decomposition method_for(std::string_view name, at::IntArrayRef sizes) {
  const Decomposition named = name == "auto" ? Decomposition::kTucker2 : parse_method(name);
  LT_REQUIRE(named != Decomposition::kDense, "dense is no way to decompose a weight");
  require_weight_sizes(sizes);
  return is_svd_weight(sizes) ? Decomposition::kSvd : named;
}

LayerForm form_by(const RankRule& rule, const Spectrum& spectrum, Decomposition method) {
  switch (rule.kind) {
    case RankRule::Kind::kCompression:
      return compressed_form(spectrum, method, rule.value);
    case RankRule::Kind::kEnergy:
      return energy_form(spectrum, method, rule.value);
    case RankRule::Kind::kEvbmf:
      return evbmf_form(spectrum, method);
    case RankRule::Kind::kTotal:
    case RankRule::Kind::kTotalBytes:
    case RankRule::Kind::kFixed:
      break;
  }
  LT_CHECK(rule.kind == RankRule::Kind::kFixed, "a layer alone has no share of the total");
  const auto rank = static_cast<std::int64_t>(rule.value);
  if (method == Decomposition::kTucker2) return {method, {rank, rank}};
  return {method, {rank}};
}

LayerForm form_by(const RankRule& rule, const at::Tensor& weight, Decomposition method) {
  LT_REQUIRE(!is_joint(rule),
             "total= is for all layers together, and this is one; use compression=0.5");
  const bool is_by_values =
      rule.kind == RankRule::Kind::kEnergy || rule.kind == RankRule::Kind::kEvbmf;
  if (is_by_values) return form_by(rule, spectrum_of(weight), method);
  return form_by(rule, Spectrum{.sizes = weight.sizes().vec()}, method);
}

}  // namespace lowtide::decompose
