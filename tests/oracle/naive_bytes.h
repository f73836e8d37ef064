// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include "lowtide/plan.h"
#include "naive_walk.h"

namespace lowtide::oracle {

enum class Form { kNone, kRaw, kEncoded, kIncoming };

// Where one value is, as naive_walk sees it.
struct Where {
  Form form = Form::kNone;
  // Of the encoded form on the device.
  std::string codec{};
  // The copy in a tier.
  TierId tier{};
  std::string tier_codec{};
  // The action that brings it in.
  std::size_t fetch = 0;
  // Bytes of a move in this tick, which are still on the device.
  std::int64_t leaving_bytes = 0;

  bool is_nowhere() const { return form == Form::kNone && !tier.valid(); }
  bool is_plain_on_host() const { return tier == TierId{0} && tier_codec.empty(); }
  bool is_on_device() const { return form != Form::kNone || leaving_bytes > 0; }
};

using Whereabouts = std::map<ValueId, Where>;

// Counts bytes for naive_walk: everything anew at each moment.
class NaiveBytes {
 public:
  NaiveBytes(const Problem& problem, const Plan& plan) : problem_(problem), plan_(plan) {}

  // Bytes on the device.
  std::int64_t rounded(std::int64_t bytes) const;
  std::int64_t raw(ValueId value) const;
  std::int64_t encoded(ValueId value, const std::string& codec) const;
  std::int64_t of(ValueId value, const Where& where) const;

  // A moment at which values are there as given, and `besides` bytes that belong to none of them.
  // Raises the peaks; throws InvalidInput where two placed values overlap.
  void look(const Whereabouts& values, std::int64_t besides, NaiveVerdict& verdict) const;

  // Throws InvalidInput if a peak is over the budget or over the capacity of its tier.
  void check_limits(const NaiveVerdict& verdict) const;

 private:
  std::int64_t codec_bytes(ValueId value, const std::string& name) const;
  void check_places(const Whereabouts& values) const;

  const Problem& problem_;
  const Plan& plan_;
};

}  // namespace lowtide::oracle
