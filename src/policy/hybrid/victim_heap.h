// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <optional>
#include <queue>
#include <vector>

#include "lowtide/ids.h"

namespace lowtide::policy {

// Values by score, the lowest first. Scores mostly rise as time goes on, so each is looked at again
// when its turn comes; a value whose score may have fallen is added once more.
class VictimHeap {
 public:
  using Score = std::function<double(ValueId)>;
  explicit VictimHeap(Score score) : score_(std::move(score)) {}

  void add(ValueId value) { entries_.push({score_(value), value}); }

  // The value of the lowest score, which leaves the heap. Those that are no candidates (any more)
  // leave it too.
  template <class IsCandidate>
  std::optional<ValueId> best(const IsCandidate& is_candidate) {
    while (!entries_.empty()) {
      const Entry entry = entries_.top();
      entries_.pop();
      if (!is_candidate(entry.value)) continue;
      const double score = score_(entry.value);
      if (score > entry.score * kSame && !entries_.empty() && score > entries_.top().score) {
        entries_.push({score, entry.value});
        continue;
      }
      return entry.value;
    }
    return std::nullopt;
  }

 private:
  static constexpr double kSame = 1.001;

  struct Entry {
    double score;
    ValueId value;
    // Turned round: the queue has its largest entry on top.
    bool operator<(const Entry& other) const {
      return score != other.score ? score > other.score : other.value < value;
    }
  };

  Score score_;
  std::priority_queue<Entry> entries_;
};

}  // namespace lowtide::policy
