// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "policy/hybrid/replay_prices.h"

#include <algorithm>

namespace lowtide::policy {
namespace {

using trace::Tick;

// Longer chains are as good as endless, and searching them would make long steps take quadratic
// time.
constexpr std::size_t kLongestReplay = 48;
// Of a value that many ops have read only the latest count: what was made from it long ago is of
// little use as a hint.
constexpr std::size_t kReadersAsked = 6;

}  // namespace

ReplayPrices::ReplayPrices(const TideStep& step, double shared, double host_share)
    : step_(step),
      shared_(shared),
      host_share_(host_share),
      here_(step.trace.values().size(), false),
      seen_(step.trace.ops().size(), -1) {}

bool ReplayPrices::is_replayed_anyway(OpId op, Tick now, ValueId but) const {
  const auto writes = step_.trace.writes(op);
  return std::any_of(writes.begin(), writes.end(), [&](const Use& write) {
    return !write.side_effect && write.value != but && !here_[write.value.slot()] &&
           step_.lifetimes.of(write.value).born < now &&
           step_.next_read(write.value, now) != step_.never();
  });
}

double ReplayPrices::seconds(ValueId value, Tick now) {
  const OpId first = step_.trace.value(value).producer;
  ++searches_;
  seen_[first.slot()] = searches_;
  open_.assign(1, {first, 1.0});
  double seconds = 0;
  for (std::size_t i = 0; i < open_.size() && i < kLongestReplay; ++i) {
    auto [op, factor] = open_[i];
    if (is_replayed_anyway(op, now, value)) factor *= shared_;
    seconds += factor * step_.replay_seconds(op, host_share_);
    for (const Use& read : step_.trace.reads(op)) {
      if (read.side_effect || here_[read.value.slot()]) continue;
      const OpId producer = step_.trace.value(read.value).producer;
      if (!producer.valid() || seen_[producer.slot()] == searches_) continue;
      seen_[producer.slot()] = searches_;
      open_.emplace_back(producer, factor);
    }
  }
  return seconds;
}

Tick ReplayPrices::next_need(ValueId value, Tick now) const {
  Tick need = step_.next_read(value, now);
  const auto reads = step_.lifetimes.of(value).reads;
  const auto past = std::lower_bound(reads.begin(), reads.end(), now) - reads.begin();
  const auto asked = std::min<std::size_t>(static_cast<std::size_t>(past), kReadersAsked);
  for (const Tick reader : reads.subspan(static_cast<std::size_t>(past) - asked, asked)) {
    for (const Use& write : step_.trace.writes(step_.lifetimes.op_at(reader))) {
      if (write.side_effect || here_[write.value.slot()]) continue;
      need = std::min(need, step_.next_read(write.value, now));
    }
  }
  return need;
}

}  // namespace lowtide::policy
