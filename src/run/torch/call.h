// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>
#include <c10/util/SmallVector.h>

#include "run/torch/effects.h"
#include "run/torch/runtime.h"

namespace lowtide::run {

// One intercepted op: sees to it that everything the op touches is there, carries it out, and
// enters in the books what it made. Lives on the stack of the thread that called the op.
class Call {
 public:
  // The arguments are the topmost of `stack`, where the results take their place.
  Call(Runtime& runtime, const c10::OperatorHandle& op, const OpEffects& effects,
       c10::DispatchKeySet keys, torch::jit::Stack& stack);
  ~Call();
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  void run();
  // Whether its kernel has been called: before that, nothing but where things lie has changed.
  bool has_begun() const { return is_begun_; }

 private:
  // A tensor among the arguments whose storage is in the books.
  struct Operand {
    Cell* cell;
    ValueP value;
    Effect effect;
    std::uint32_t ref;
    bool is_parameter;
  };

  void collect(Books::Lock& lock);
  void collect_argument(std::size_t argument, Books::Lock& lock);
  void add_operand(const at::Tensor& tensor, Effect effect, Books::Lock& lock);
  void add_storage(const c10::Storage& storage, Books::Lock& lock);
  void pin(Cell* cell, Effect effect, bool is_parameter);
  void add_ref(const at::Tensor& tensor, Effect effect, Cell* cell);
  bool is_scratch(const at::Tensor& tensor, const Operand& operand) const;

  void follow_plan(Books::Lock& lock);
  // Whether the operand's storage holds another value afterwards.
  bool changes(const Operand& operand) const;
  bool needs_help() const;
  void bring_back();
  bool reads_what_is_open() const;
  void decide_on_record();
  void unmark_shared_scratch();
  bool writes_source() const;
  bool overwrites_what_it_reads() const;
  void draw_and_run();
  void save_random_state();
  PrecisionsOf precisions_obeyed() const;
  void fill_record(Books::Lock& lock);

  void run_kernel();
  void enter_results(Books::Lock& lock);
  void enter_written(Books::Lock& lock);
  void enter_outputs(Books::Lock& lock);
  c10::SmallVector<Cell*, 2> new_cells() const;
  void enter_output(const at::Tensor& tensor, Books::Lock& lock);
  // False: the record is of no use.
  bool hold_new_sources();
  bool has_left_scratch() const;
  void enter_record(Books::Lock& lock);
  void write_down(Books::Lock& lock);
  void evict_what_was_used(Books::Lock& lock);
  void forget_written(Books::Lock& lock);
  void unpin(Books::Lock& lock);

  Runtime& runtime_;
  Books& books_;
  const c10::OperatorHandle& op_;
  const OpEffects& effects_;
  c10::DispatchKeySet keys_;
  torch::jit::Stack& stack_;
  // Where the arguments begin on the stack.
  std::size_t first_;
  c10::SmallVector<Operand, 6> operands_;
  RecordP record_;
  // Whether the op can be recorded, as far as the arguments are concerned.
  bool can_record_ = false;
  // Some argument keeps its bytes where we do not see them: it is sparse, nested or packed.
  bool has_opaque_operand_ = false;
  // Some argument comes from another device: for the copy the host waits for this one.
  bool has_foreign_operand_ = false;
  // The results that are new values.
  c10::SmallVector<ValueP, 3> made_;
  // Which kind of op it is, as far as time goes: operator and shapes.
  std::uint64_t signature_ = 0;
  void* stream_ = nullptr;
  std::int64_t operand_bytes_ = 0;
  double seconds_ = 0;
  // Of a captured op: since the one before ended.
  double seconds_before_ = 0;
  // Its place in the plan that guides the step; -1 without one.
  int tick_ = -1;
  bool is_begun_ = false;
  bool is_done_ = false;
};

}  // namespace lowtide::run
