// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "naive_bytes.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "lowtide/errors.h"

namespace lowtide::oracle {

std::int64_t NaiveBytes::rounded(std::int64_t bytes) const {
  const std::int64_t unit = problem_.machine.allocator.round_bytes;
  return (bytes + unit - 1) / unit * unit;
}

std::int64_t NaiveBytes::raw(ValueId value) const {
  return rounded(problem_.trace->storage_of(value).bytes);
}

std::int64_t NaiveBytes::encoded(ValueId value, const std::string& codec) const {
  return rounded(codec_bytes(value, codec));
}

std::int64_t NaiveBytes::codec_bytes(ValueId value, const std::string& name) const {
  for (const CodecOption& codec : problem_.trace->storage_of(value).codecs) {
    if (codec.name == name) return codec.bytes;
  }
  return 0;
}

std::int64_t NaiveBytes::of(ValueId value, const Where& where) const {
  switch (where.form) {
    case Form::kNone:
      return 0;
    case Form::kRaw:
      return raw(value);
    case Form::kEncoded:
      return encoded(value, where.codec);
    case Form::kIncoming:
      return raw(value) + encoded(value, where.tier_codec);
  }
  return 0;
}

void NaiveBytes::look(const Whereabouts& values, std::int64_t besides,
                      NaiveVerdict& verdict) const {
  std::int64_t bytes = besides;
  std::vector<std::int64_t> tiers(problem_.machine.tiers.size(), 0);
  for (const auto& [value, where] : values) {
    bytes += of(value, where) + where.leaving_bytes;
    if (!where.tier.valid()) continue;
    const std::int64_t plain = problem_.trace->storage_of(value).bytes;
    tiers[where.tier.slot()] +=
        where.tier_codec.empty() ? plain : codec_bytes(value, where.tier_codec);
  }
  verdict.peak_bytes = std::max(verdict.peak_bytes, bytes);
  verdict.tier_peak_bytes.resize(tiers.size(), 0);
  for (std::size_t i = 0; i < tiers.size(); ++i) {
    verdict.tier_peak_bytes[i] = std::max(verdict.tier_peak_bytes[i], tiers[i]);
  }
  check_places(values);
}

void NaiveBytes::check_limits(const NaiveVerdict& verdict) const {
  if (verdict.peak_bytes > problem_.budget_bytes) throw InvalidInput("over budget");
  for (std::size_t i = 0; i < verdict.tier_peak_bytes.size(); ++i) {
    const std::int64_t capacity = problem_.machine.tiers[i].capacity_bytes;
    if (verdict.tier_peak_bytes[i] > capacity) throw InvalidInput("tier full");
  }
}

void NaiveBytes::check_places(const Whereabouts& values) const {
  std::vector<std::pair<std::int64_t, std::int64_t>> taken;
  for (const Action& action : plan_.actions) {
    const auto* place = std::get_if<Place>(&action);
    if (place == nullptr || !place->offset_bytes) continue;
    const std::int64_t begin = *place->offset_bytes;
    const std::int64_t end = begin + raw(place->value);
    if (end > problem_.budget_bytes) throw InvalidInput("placed beyond the budget");
    const auto found = values.find(place->value);
    const bool is_there = found != values.end() && found->second.is_on_device();
    if (begin < end && is_there) taken.emplace_back(begin, end);
  }
  std::sort(taken.begin(), taken.end());
  for (std::size_t i = 1; i < taken.size(); ++i) {
    if (taken[i - 1].second > taken[i].first) throw InvalidInput("two placed values overlap");
  }
}

}  // namespace lowtide::oracle
