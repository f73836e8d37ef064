// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "trace/gaps.h"

namespace lowtide::trace {

std::vector<Gap> gaps(const Trace& trace, const Lifetimes& lifetimes) {
  std::vector<Gap> result;
  for (std::size_t i = 0; i < trace.values().size(); ++i) {
    const auto value = make_id<ValueId>(i);
    const Lifetime& life = lifetimes.of(value);
    Tick last = life.born;
    const auto use = [&](Tick tick) {
      if (tick - last > 1) result.push_back(Gap{.value = value, .from = last, .to = tick});
      last = tick;
    };
    for (const Tick read : life.reads) use(read);
    use(life.dies);
  }
  return result;
}

}  // namespace lowtide::trace
