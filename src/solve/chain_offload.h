// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "solve/chain_reversal.h"

namespace lowtide::solve {

// What it takes to put things away while a chain is gone through, and to get them back in time.
struct Offload {
  // By stage: seconds to copy its input, and what it saves. Infinite where that cannot be.
  std::vector<double> input_seconds;
  std::vector<double> saved_seconds;
  // By stage: seconds of its way forwards, beside which copies are made.
  std::vector<double> stage_seconds;
  // What is still being copied takes room: so much for a second of copying.
  double room_per_second = 0;
  // Copies that wait are counted in steps of so many seconds, up to so many steps.
  double backlog_seconds = 1;
  std::int32_t most_backlog = 1;
};

// What the first way through the chain does with the stages from `first` to `last`.
struct OffloadPart {
  enum class Kind : std::uint8_t {
    kSave,      // one stage, which saves
    kSaveAway,  // one stage, and what it saves is put away
    kAgain,     // the stages are gone through again when the way back comes to them
  };
  Kind kind = Kind::kSave;
  std::int32_t first = 0;
  std::int32_t last = 0;
  // Room for going through them again, by ChainReversal.
  std::int32_t room = 0;
  // Whether the input of the stage behind them is put away.
  bool next_input_away = false;
};

// The cheapest first way through a chain, where what is kept may be put away: dynamic programming
// over (stage, room, copies that wait). The way back is taken to have the same copies to wait for
// at each stage as the way forwards, so that one number stands for both directions. O(stages^2 *
// room * backlog).
class ChainOffload {
 public:
  // All have to outlive it. Requires: every list has an entry a stage.
  ChainOffload(const Chain& chain, const ChainReversal& again, const Offload& offload);

  double cost(std::int32_t room) const;
  // Requires: cost(room) is finite.
  std::vector<OffloadPart> parts(std::int32_t room) const;

 private:
  struct Entry {
    double cost = 0;
    std::int16_t until = 0;
    OffloadPart::Kind kind = OffloadPart::Kind::kSave;
    bool next_input_away = false;
  };
  // A place in the table.
  struct State {
    std::size_t stage = 0;
    std::int32_t room = 0;
    std::int32_t backlog = 0;
  };

  std::size_t index(const State& state) const;
  double cost_from(const State& state) const;
  void fill(const State& state);
  void try_saving(const State& state, Entry& best) const;
  void try_again(const State& state, Entry& best) const;
  State after_saving(const State& state, bool is_away) const;
  State after_again(const State& state, std::size_t until, bool is_away) const;
  // What waits after a stretch of that many seconds and with that much more to copy; more than the
  // most if that is too much.
  std::int32_t backlog_after(std::int32_t backlog, double seconds, double copy_seconds) const;
  std::int32_t room_left(const State& state) const;

  const Chain& chain_;
  const ChainReversal& again_;
  const Offload& offload_;
  std::int32_t most_room_;
  // Seconds of all stages before one.
  std::vector<double> seconds_before_;
  std::vector<Entry> table_;
};

}  // namespace lowtide::solve
