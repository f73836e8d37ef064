// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plan/arena.h"

namespace lowtide::plan {

// The form of a value on the device.
enum class Form : std::uint8_t { kAbsent, kRaw, kEncoded, kIncoming };

// Where one value is.
struct Presence {
  Form form = Form::kAbsent;
  // Index of the codec of an encoded form; -1 otherwise.
  std::int32_t codec = -1;
  // The tier that holds a copy, and the codec of the copy (-1 for none).
  TierId tier;
  std::int32_t tier_codec = -1;
  // The action that brings it in, while it is incoming.
  std::int32_t fetch = -1;

  bool nowhere() const { return form == Form::kAbsent && !tier.valid(); }
  bool lies_plain_in(TierId id) const { return tier == id && tier_codec < 0; }
};

// The checker's books: where every value is and how many bytes that takes. It carries out what it
// is told and judges nothing but overlaps; each function requires the form that it starts from.
class Residency {
 public:
  // Why a value is nowhere.
  enum class Loss : std::uint8_t {
    kNeverMade,
    kDroppedAfter,
    kDroppedBefore,
    kReleased,
    kUnwanted
  };

  // Every source is raw on the device, but for those that `plan.starts` puts in a tier.
  Residency(const Problem& problem, const Plan& plan, Findings& findings);

  const Presence& of(ValueId value) const { return values_[value.slot()]; }

  // From here on the bytes of earlier moves are free. `position` is where a peak is reported.
  void begin_tick(OpId position);
  // A moment at which the device holds `bytes` besides the values.
  void use_besides(std::int64_t bytes);

  void make_raw(ValueId value);
  void make_in_tier(ValueId value, TierId tier);
  // Lets go of a raw or encoded form.
  void let_go(ValueId value, Loss loss);
  // Lets go of every form, in the tiers too.
  void release(ValueId value);
  void encode(ValueId value, std::int32_t codec);
  void decode(ValueId value);
  void move(ValueId value, TierId tier, std::int32_t codec);
  void issue_fetch(ValueId value, std::int32_t action);
  void finish_fetch(ValueId value);

  // "lies in tier host": completes "a.1, which …".
  std::string whereabouts(ValueId value) const;

  std::int64_t peak_bytes() const { return peak_bytes_; }
  OpId peak_op() const { return peak_op_; }
  const std::vector<std::int64_t>& tier_peak_bytes() const { return tier_peak_bytes_; }
  OpId tier_peak_op(TierId tier) const { return tier_peak_op_[tier.slot()]; }

 private:
  struct Lost {
    Loss loss = Loss::kNeverMade;
    OpId op;
  };

  Presence& at(ValueId value) { return values_[value.slot()]; }
  std::int64_t raw_bytes(ValueId value) const;
  std::int64_t encoded_bytes(ValueId value, std::int32_t codec) const;
  std::int64_t tier_bytes(ValueId value, std::int32_t codec) const;
  std::int64_t device_bytes(ValueId value) const;
  void enter_tier(ValueId value, TierId tier, std::int32_t codec);
  void leave_tier(ValueId value);

  const Problem& problem_;
  const Trace& trace_;
  Arena arena_;
  OpId position_;
  std::vector<Presence> values_;
  std::vector<Lost> losses_;
  std::int64_t held_bytes_ = 0;
  // Of moves in this tick: their bytes are still counted in held_bytes_.
  std::int64_t leaving_bytes_ = 0;
  std::int64_t peak_bytes_ = 0;
  OpId peak_op_;
  std::vector<std::int64_t> tier_held_bytes_;
  std::vector<std::int64_t> tier_peak_bytes_;
  std::vector<OpId> tier_peak_op_;
};

}  // namespace lowtide::plan
