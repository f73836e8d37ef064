// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "run/torch/runtime.h"

#include "base/check.h"
#include "run/torch/arguments.h"
#include "run/torch/call.h"
#include "run/torch/chunks.h"
#include "run/torch/quiet_call.h"

namespace lowtide::run {

Runtime::Runtime(engine::Device& device, c10::Device torch_device)
    : books_(device, torch_device), timer_(device) {}

void Runtime::start() { books_.device().ledger().set_evictor(&books_); }

void Runtime::stop() {
  bring_all_back();
  Books::Lock lock(books_);
  books_.forget_all(lock);
}

// No locks: the threads that had them are not here to let go of them.
void Runtime::abandon() {
  books_.device().ledger().set_evictor(nullptr);
  books_.device().ledger().set_budget(engine::Ledger::kNoBudget);
}

void Runtime::call(const c10::OperatorHandle& op, c10::DispatchKeySet keys,
                   torch::jit::Stack& stack) {
  if (is_aside() && let_pass(op, keys, stack)) return;
  const OpEffects& effects = effects_of(op);
  if (effects.is_metadata) {
    op.redispatchBoxed(keys, &stack);
    return;
  }
  if (effects.is_view && guide_.pass_view()) {
    op.redispatchBoxed(keys, &stack);
    return;
  }
  if (effects.is_multi_tensor && call_in_chunks(*this, op, effects, keys, stack)) return;
  if (guide_.may_be_quiet() && call_quietly(op, effects, keys, stack)) return;
  if (effects.is_multi_tensor) {
    call_as_it_fits(*this, op, effects, keys, stack);
  } else {
    Call(*this, op, effects, keys, stack).run();
  }
}

bool Runtime::call_quietly(const c10::OperatorHandle& op, const OpEffects& effects,
                           c10::DispatchKeySet keys, torch::jit::Stack& stack) {
  // Its tensors may not stay where they are for as long as the call takes.
  if (effects.has_dictionaries) return false;
  TensorPointers tensors;
  const auto add = [&](const at::Tensor& tensor) { tensors.push_back(&tensor); };
  for (std::size_t i = stack.size() - op.schema().arguments().size(); i < stack.size(); ++i) {
    for_each_tensor(stack[i], add);
  }
  QuietCall quiet(*this, effects);
  if (!quiet.begin(tensors)) return false;
  op.redispatchBoxed(keys, &stack);
  tensors.clear();
  for_each_result(op, stack, add);
  quiet.end(tensors);
  return true;
}

// The session's own thread does not come here while we are aside; those of a ThreadGuard do.
bool Runtime::let_pass(const c10::OperatorHandle& op, c10::DispatchKeySet keys,
                       torch::jit::Stack& stack) {
  std::shared_lock passing(passing_, std::defer_lock);
  {
    const std::lock_guard open(way_is_open_);
    passing.lock();
  }
  if (!is_aside_.load(std::memory_order_acquire)) return false;
  op.redispatchBoxed(keys, &stack);
  note_results(op, stack);
  return true;
}

// Nobody else can say, once we are back, what fills the memory.
void Runtime::note_results(const c10::OperatorHandle& op, const torch::jit::Stack& stack) {
  Books::Lock lock(books_);
  for_each_result(op, stack, [&](const at::Tensor& tensor) {
    if (!has_plain_bytes(tensor) || !books_.can_manage(tensor, lock)) return;
    books_.note_unseen(tensor.storage().unsafeGetStorageImpl(), lock);
  });
}

void Runtime::begin_step(const StepWishes& wishes) {
  if (wishes.is_captured) start_capture();
  Books::Lock lock(books_);
  guide_.begin_step(wishes.is_guided, wishes.is_timed);
}

void Runtime::stop_guiding() {
  Books::Lock lock(books_);
  guide_.stop(lock);
}

void Runtime::drop_capture(Books::Lock&) {
  if (!capturing_.exchange(false)) return;
  std::erase(books_.witnesses, &capture_.log());
  books_.device().stop_pacing();
}

void Runtime::end_step() {
  {
    Books::Lock lock(books_);
    guide_.end_step(lock);
  }
  restorer_.end_step();
  books_.device().end_step();
  Books::Lock lock(books_);
  books_.forget_classes();
  books_.begin_sampling();
  books_.tidy_leaving(lock);
  books_.tidy_unseen(lock);
}

bool Runtime::step_aside() {
  Books::Lock lock(books_);
  if (!books_.step_aside(lock)) return false;
  is_aside_.store(true, std::memory_order_release);
  return true;
}

void Runtime::come_back() {
  const std::lock_guard closed(way_is_open_);
  const std::lock_guard alone(passing_);
  Books::Lock lock(books_);
  books_.come_back(lock);
  is_aside_.store(false, std::memory_order_release);
}

void Runtime::start_capture() {
  Books::Lock lock(books_);
  books_.bury_dead(lock);
  capture_ = Capture();
  books_.observer = &capture_;
  if (!capturing_.exchange(true)) books_.witnesses.push_back(&capture_.log());
}

void Runtime::stop_capture() {
  Books::Lock lock(books_);
  books_.bury_dead(lock);
  books_.observer = nullptr;
  drop_capture(lock);
}

// It is back, and may be written by hand.
void Runtime::open_to_writes(const ValueP& value) {
  restorer_.restore(value);
  {
    // Nobody can make again what it will be, and a copy is not that either.
    Books::Lock lock(books_);
    books_.make_source(*value, lock);
    books_.forget_copy(*value, lock);
  }
  restorer_.settle({value});
}

void Runtime::hold_as(const at::Tensor& tensor, bool is_open) {
  ValueP value;
  const auto count = [&](std::int32_t change) {
    Books::Lock lock(books_);
    Cell* cell = has_plain_bytes(tensor) ? books_.find_cell(tensor, lock) : nullptr;
    if (cell == nullptr) return;
    cell->holds += change;
    if (is_open) cell->open_holds += change;
    value = change > 0 ? cell->value : nullptr;
  };
  count(1);
  if (!value) return;
  try {
    open_to_writes(value);
  } catch (...) {
    count(-1);
    throw;
  }
  Books::Lock lock(books_);
  value.reset();
}

void Runtime::hold(const at::Tensor& tensor) { hold_as(tensor, true); }
void Runtime::keep_address(const at::Tensor& tensor) { hold_as(tensor, false); }

void Runtime::begin_opaque() {
  Books::Lock lock(books_);
  books_.begin_opaque(lock);
}

void Runtime::end_opaque() {
  Books::Lock lock(books_);
  books_.end_opaque(lock);
}

void Runtime::label(const at::Tensor& tensor, Label label) {
  Books::Lock lock(books_);
  Cell* cell = has_plain_bytes(tensor) ? books_.find_cell(tensor, lock) : nullptr;
  if (cell != nullptr) cell->label = std::make_unique<const Label>(std::move(label));
}

void Runtime::release(const at::Tensor& tensor) {
  Books::Lock lock(books_);
  Cell* cell = has_plain_bytes(tensor) ? books_.find_cell(tensor, lock) : nullptr;
  if (cell == nullptr) return;
  LT_REQUIRE(cell->open_holds > 0, "release() of a tensor that is not held: call hold() first");
  --cell->holds;
  --cell->open_holds;
}

bool Runtime::is_in_use(const at::Tensor& tensor) {
  Books::Lock lock(books_);
  return !has_plain_bytes(tensor) || books_.is_in_use(tensor, lock);
}

void Runtime::bring_all_back() {
  restorer_.end_step();
  std::vector<ValueP> away;
  {
    Books::Lock lock(books_);
    for (Cell* cell : books_.cells(lock)) {
      if (cell->value->is_resident() || cell->weak.expired()) continue;
      ++cell->value->pins;
      away.push_back(cell->value);
    }
  }
  std::exception_ptr failure;
  for (const ValueP& value : away) {
    try {
      if (!failure) restorer_.restore(value);
    } catch (...) {
      failure = std::current_exception();
    }
  }
  Books::Lock lock(books_);
  for (const ValueP& value : away) --value->pins;
  away.clear();
  if (failure) std::rethrow_exception(failure);
}

}  // namespace lowtide::run
