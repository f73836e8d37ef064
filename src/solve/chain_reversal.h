// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace lowtide::solve {

// A row of stages that is gone through forwards and then backwards. The way back through a stage
// needs what its way forward can save; whatever is not saved is made again by going forwards once
// more from an input that was kept. Room is counted in whole units.
struct Chain {
  // By stage: the cost of going forwards with the output alone as a result, and with all that the
  // way back needs.
  std::vector<double> forward_cost;
  std::vector<double> saving_cost;
  // What is saved then, the output included.
  std::vector<std::int32_t> saved_room;
  // What going forwards takes besides the stage's input, in both ways.
  std::vector<std::int32_t> forward_room;
  std::vector<std::int32_t> saving_room;
  // The same for a stage that saves right before its way back: nobody needs its output, and it may
  // be that nothing has to be saved at all.
  std::vector<double> final_cost;
  std::vector<std::int32_t> final_room;
  std::vector<std::int32_t> final_saving_room;
  // What the way back takes besides what was saved and the input.
  std::vector<std::int32_t> backward_room;
  // What others take while stages are gone through anew right before the way back of this one.
  std::vector<std::int32_t> others_room;
  // [i][j] for i < j: what the input of stage j takes besides that of stage i, which is there too.
  std::vector<std::vector<std::int32_t>> input_room;

  std::size_t size() const { return forward_cost.size(); }
};

// One thing to do. An input that is kept and what is saved stay until the way back through their
// stage is over.
struct ChainStep {
  enum class Kind : std::uint8_t { kForward, kKeepInput, kSave, kBackward };
  Kind kind = Kind::kForward;
  std::int32_t stage = 0;
  friend bool operator==(const ChainStep&, const ChainStep&) = default;
};

// The cheapest ways through a chain for every room up to a limit, by dynamic programming over
// (first stage, last stage, room): either the first stage saves, or the way goes forwards to a
// stage whose input is kept, through the rest and back, and then once more through what lies before
// it. Optimal among the ways in which nothing that is kept goes before its time.
// O(stages^3 * room) time, O(stages^2 * room) memory.
class ChainReversal {
 public:
  // Requires: every list has an entry a stage.
  ChainReversal(const Chain& chain, std::int32_t most_room);

  std::int32_t most_room() const { return most_room_; }
  // Of all ways forwards; infinite if the room does not do. Falls as room grows.
  double cost(std::int32_t room) const;
  // Requires: cost(room) is finite.
  std::vector<ChainStep> steps(std::int32_t room) const;

  // The same for the stages from one to another, with the input of the first there already.
  double cost(std::size_t first, std::size_t last, std::int32_t room) const;
  std::vector<ChainStep> steps(std::size_t first, std::size_t last, std::int32_t room) const;

 private:
  // In the table of ways: the first stage saves, or there is none; else the stage to go on from.
  static constexpr std::int16_t kSaves = 0;
  static constexpr std::int16_t kNone = -1;

  std::size_t row(std::size_t first, std::size_t last) const {
    return (last * (last + 1) / 2 + first) * (static_cast<std::size_t>(most_room_) + 1);
  }
  void fill(std::size_t first, std::size_t last);
  void try_saving(std::size_t first, std::size_t last);
  void try_from(std::size_t first, std::size_t last, std::size_t middle, std::int32_t least_room,
                double cost);
  void add_steps(std::size_t first, std::size_t last, std::int32_t room,
                 std::vector<ChainStep>& steps) const;

  Chain chain_;
  std::int32_t most_room_;
  std::vector<double> costs_;
  std::vector<std::int16_t> ways_;
};

}  // namespace lowtide::solve
