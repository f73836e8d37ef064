// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "run/engine/guided_step.h"
#include "run/torch/books.h"
#include "run/torch/restorer.h"

namespace lowtide::run {

// What came of guidance so far.
struct GuideCounters {
  std::int64_t steps = 0;
  // Steps that left their plan before the end.
  std::int64_t broken_off = 0;
  std::int64_t prefetches = 0;
  // Actions that could not be carried out when they were due, and were left to the online rule.
  std::int64_t skipped = 0;
};

// What a step waited for, by the plan that it followed to its end.
struct StepStalls {
  // Null: it did not.
  std::shared_ptr<const engine::GuidedStep> step;
  std::vector<engine::Stall> stalls;
};

// How the last step went.
struct GuideStep {
  // Of the plan that it followed for most of its ops; 0: there was none.
  std::uint64_t guided_shape = 0;
  // It began as one that there is a plan for, and turned out to be another.
  bool is_unknown = false;
};

// Carries plans out: drops, moves, fetches and repeats at their places in the sequence of ops.
// Nothing depends on it but speed: what a plan forgets is brought back when an op asks for it, and
// what it leaves lying about goes when room is needed. An op that is not the expected one ends
// guidance for the step.
class Guide final : public BurialObserver {
 public:
  Guide(Books& books, Restorer& restorer)
      : books_(books), restorer_(restorer), stalls_(books.device()) {}

  // --- These need the books' lock. ---

  // From now on steps of its shape are guided by it.
  void add_plan(std::shared_ptr<const engine::GuidedStep> step);
  void remove_plan(std::uint64_t shape);

  // The next op is the first of a step, which is guided if there is a plan for it and if
  // `is_guided`; with `is_timed`, its waits for fetches are measured.
  void begin_step(bool is_guided, bool is_timed);
  void end_step(Books::Lock& lock);
  // Guidance of the step under way ends here, and so do all plans.
  void stop(Books::Lock& lock);
  // What was measured in the last step that was timed; nothing while the device is not so far.
  std::optional<StepStalls> take_stalls();
  // Whether the op that comes now has to be remembered, as far as the plan knows.
  bool wants_record() const;

  // Whether the next op of the plan is this one and needs nothing done; see QuietCall.
  bool expects_quiet(std::uint64_t signature) const;
  // Requires: expects_quiet(). The storages that it was given, in the order of its arguments: false
  // if one of them is not where the plan wants it.
  bool are_ready(std::span<c10::StorageImpl* const> arguments, void* stream) const;
  // The next op is about to run. Returns its tick.
  int go_on();
  // To be called before anything else is asked about the op that comes: counts the views since.
  void catch_up();
  // The quiet op of the tick has run, and returned these tensors with new storages.
  void after_quiet_op(int tick, std::span<const at::Tensor* const> results, bool is_blank,
                      Books::Lock& lock);
  // An op failed: what the plan says of the rest does not hold.
  void give_up(Books::Lock& lock);

  // The op that is about to run. Returns its tick, or -1 if it is not guided.
  int follow(std::uint64_t signature, std::span<Cell* const> arguments, Books::Lock& lock);
  // Whether before_op() has something to do.
  bool has_work_before(int tick, Books::Lock& lock);
  // How the op of the tick can be carried out again.
  void note_record(int tick, const RecordP& record);
  // The op of the tick has run, and made these.
  void after_op(int tick, std::span<Cell* const> results, Books::Lock& lock);
  void on_buried(const Cell& cell) override;

  const GuideCounters& counters() const { return counters_; }
  const GuideStep& last_step() const { return last_; }
  // The step under way, null without a plan for it, and how many of its ops have begun.
  const std::shared_ptr<const engine::GuidedStep>& step() const { return step_; }
  std::size_t position() const { return position_; }

  // --- Without the lock. ---

  // Whether the next op may be one for expects_quiet(). A guess, since nothing is locked.
  bool may_be_quiet() const { return may_be_quiet_.load(std::memory_order_relaxed); }
  // Whether the plan has a view next that needs nothing done: then it counts as done. It uses no
  // bytes, so that it does no harm where the guess is wrong; the next op shows it.
  bool pass_view();

  // What the plan wants done before the op of the tick, as far as there is room. Throws what else
  // replays throw.
  void before_op(int tick);

 private:
  using StepP = std::shared_ptr<const engine::GuidedStep>;
  using Ghosts = std::multimap<int, ValueP>;
  // A fetch that is due, and has to wait.
  struct DueFetch {
    std::weak_ptr<Value> value;
    // Among the plan's.
    std::int32_t action;
  };
  // One that begins now. Its value is pinned.
  struct Begun {
    ValueP value;
    std::int32_t action = -1;
  };

  void start(StepP step);
  void look_ahead();
  void break_off(Books::Lock& lock);
  void leave_step();
  void note_survivors();
  void guess_survivors();
  void forget_guess(std::size_t storage);
  void forget_actions();
  // Whether the plan's next op is this one.
  bool expects(const engine::GuidedStep& step, std::uint64_t signature,
               std::size_t arguments) const;
  bool switch_plan(std::uint64_t signature, std::size_t arguments);
  bool bind(StorageId storage, Cell* cell);
  void note_written(int tick);
  // The value if its storage holds it now; null otherwise.
  ValueP current(ValueId id) const;

  // Without the lock. `step` is the plan they belong to: another thread may have ended it since.
  void fetch(const StepP& step, std::int32_t action);
  // Requires: pinned. False: it could not be.
  bool fetch_from_host(Begun fetch);
  void fetch_what_is_due();
  // Returns the ghosts among what it brought back.
  std::vector<ValueP> repeat(const StepP& step, OpId op);

  // With the lock.
  static std::vector<ValueP> missing_results(const Record& record);
  void keep_ghosts(std::vector<ValueP> ghosts, int held_until, std::int32_t last_reader);
  void let_go_of(Ghosts& ghosts, int until, Books::Lock& lock);
  void let_go_of(Value& ghost, Books::Lock& lock);
  void drop_dead(ValueId id, Books::Lock& lock);
  void release_after(int tick, Books::Lock& lock);
  void release(std::int32_t index, Books::Lock& lock);
  void move(const Move& move, Books::Lock& lock);
  void move_what_is_due(Books::Lock& lock);
  bool cancel_due_move(ValueId id);
  bool has_room_on_the_way(std::int64_t under_way, std::int64_t bytes) const;
  bool may_fetch_now(Value& value, Books::Lock& lock);
  Begun next_due(Books::Lock& lock);
  Begun next_that_was_read(Books::Lock& lock);
  void drop(ValueId id, Books::Lock& lock);
  void take_holds(int tick);
  void let_go_of_holds(int tick, Books::Lock& lock);

  Books& books_;
  Restorer& restorer_;
  // The one that was followed last comes first.
  std::vector<StepP> plans_;
  GuideCounters counters_;

  // The step under way; the last one when there is none.
  GuideStep last_;
  bool is_at_start_ = false;
  StepP step_;
  // That it began on.
  void* stream_ = nullptr;
  std::atomic<bool> may_be_quiet_{false};
  // From position_ on: views that may pass, and that did.
  std::atomic<int> views_ahead_{0};
  std::atomic<int> views_passed_{0};
  std::size_t position_ = 0;
  // By storage of the trace: the cell, and which version of its contents is there.
  std::vector<Cell*> cells_;
  std::vector<std::int32_t> versions_;
  // On their way from the spill file to host memory, from where they go on when they are there.
  std::deque<DueFetch> reading_;
  // Copies that wait for others to end, in the order of the plan: fetches, and Moves by their place
  // among the plan's actions.
  std::deque<DueFetch> due_fetches_;
  std::deque<std::int32_t> due_moves_;
  engine::Stalls stalls_;
  bool is_timed_ = false;
  StepP timed_step_;
  // Whether the cell is that of the last step, and no op has shown yet that it is right.
  std::vector<bool> is_guess_;
  // What outlived the last step that followed its plan to the end.
  StepP survivors_of_;
  std::vector<std::pair<StorageId, c10::weak_intrusive_ptr<c10::StorageImpl>>> survivors_;
  // By op; only of those that the plan may repeat.
  std::vector<std::weak_ptr<Record>> records_;
  // What the plan lets go of after its natural life, as far as it was made.
  std::unordered_map<ValueId, std::weak_ptr<Value>> dropped_dead_;
  // Brought back for other replays before the op that comes, by the last of these among the plan's
  // actions; and those that the plan holds, by the last tick that it does.
  Ghosts ghosts_;
  Ghosts held_ghosts_;
  // By the last tick that they are for.
  std::multimap<int, c10::Storage> holds_;
};

}  // namespace lowtide::run
