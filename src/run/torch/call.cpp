// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "run/torch/call.h"

#include <algorithm>
#include <chrono>

#include <ATen/Context.h>

#include "base/check.h"
#include "run/torch/arguments.h"
#include "run/torch/autograd_phase.h"
#include "run/torch/current_op.h"
#include "run/torch/interceptor.h"
#include "run/torch/kernels.h"
#include "run/torch/random_state.h"
#include "run/torch/signature.h"

namespace lowtide::run {
namespace {

using Clock = Capture::Clock;

// Longer chains of replays are never needed by one step, and would keep records without end.
constexpr std::uint32_t kMaxDepth = 1 << 14;
// Tensors of other devices up to this size are copied into records: scalars.
constexpr std::size_t kSmallForeignBytes = 64;

}  // namespace

Call::Call(Runtime& runtime, const c10::OperatorHandle& op, const OpEffects& effects,
           c10::DispatchKeySet keys, torch::jit::Stack& stack)
    : runtime_(runtime),
      books_(runtime.books()),
      op_(op),
      effects_(effects),
      keys_(keys),
      stack_(stack),
      first_(stack.size() - op.schema().arguments().size()) {}

Call::~Call() {
  if (is_done_) return;
  Books::Lock lock(books_);
  // Before the kernel began nothing was written, and what is evicted may still need the old values.
  if (is_begun_) forget_written(lock);
  unpin(lock);
  // Values and records are destroyed under the lock only.
  operands_.clear();
  made_.clear();
  record_.reset();
}

void Call::run() {
  const CurrentOp name(effects_.name);
  const auto start = runtime_.is_capturing() ? Clock::now() : Clock::time_point();
  bool is_helped = false;
  {
    Books::Lock lock(books_);
    if (start != Clock::time_point()) seconds_before_ = runtime_.capture().seconds_until(start);
    books_.bury_dead(lock);
    runtime_.guide().catch_up();
    collect(lock);
    decide_on_record();
    follow_plan(lock);
    is_helped = needs_help() || (tick_ >= 0 && runtime_.guide().has_work_before(tick_, lock));
    if (!is_helped) fill_record(lock);
  }
  if (is_helped) {
    if (tick_ >= 0) runtime_.guide().before_op(tick_);
    bring_back();
    Books::Lock lock(books_);
    fill_record(lock);
  }
  books_.device().ledger().keep_cap();
  draw_and_run();
  Books::Lock lock(books_);
  enter_results(lock);
  is_done_ = true;
  if (runtime_.is_capturing()) runtime_.capture().op_ended();
}

void Call::collect(Books::Lock& lock) {
  const std::size_t count = stack_.size() - first_;
  // A captured step has those of its ops even where none are needed: what an op in place overwrites
  // can only be made again if the op that made it left one.
  const bool is_wanted = books_.rules.keeps_records || runtime_.is_capturing();
  can_record_ = is_wanted && books_.rules.may_recompute && !effects_.is_factory &&
                effects_.is_replayable && runtime_.guide().wants_record();
  if (can_record_) {
    record_ = books_.new_record(op_);
    record_->arguments.resize(count);
  }
  signature_ = signature_of(effects_);
  stream_ = books_.device().current_stream();
  for (std::size_t i = 0; i < count; ++i) collect_argument(i, lock);
}

void Call::collect_argument(std::size_t argument, Books::Lock& lock) {
  const c10::IValue& value = stack_[first_ + argument];
  const std::size_t operands_before = operands_.size();
  const auto first_ref = static_cast<std::uint32_t>(record_ ? record_->refs.size() : 0);
  const Effect effect = effects_.effect(argument, stack_, first_);
  using Form = ArgumentRefs::Form;
  const auto add_argument_refs = [&](Form form) {
    if (!record_) return;
    const auto count = static_cast<std::uint32_t>(record_->refs.size()) - first_ref;
    record_->argument_refs.push_back(
        {static_cast<std::uint16_t>(argument), form, first_ref, count});
  };
  if (value.isTensor()) {
    if (!value.toTensor().defined()) {
      if (record_) record_->arguments[argument] = value;
      return;
    }
    add_operand(value.toTensor(), effect, lock);
    add_argument_refs(Form::kTensor);
  } else if (value.isTensorList() || value.isOptionalTensorList()) {
    for (const c10::IValue& element : value.toListRef()) {
      if (element.isTensor() && element.toTensor().defined()) {
        add_operand(element.toTensor(), effect, lock);
      } else if (record_) {
        record_->refs.emplace_back();  // Stands for the missing one.
      }
    }
    add_argument_refs(value.isTensorList() ? Form::kList : Form::kOptionalList);
  } else {
    // `set_` is given one.
    if (value.isStorage()) add_storage(value.toStorage(), lock);
    for_each_tensor(value, [&](const at::Tensor& tensor) { add_operand(tensor, effect, lock); });
    const bool has_tensors = operands_.size() != operands_before;
    if (has_tensors || !is_plain_argument(value)) can_record_ = false;
    if (record_ && can_record_) record_->arguments[argument] = as_it_is_now(value);
  }
}

void Call::add_operand(const at::Tensor& tensor, Effect effect, Books::Lock& lock) {
  const bool is_plain = has_plain_bytes(tensor);
  if (!is_plain) has_opaque_operand_ = true;
  // Single numbers are handed over as they are.
  if (tensor.device() != books_.torch_device() && tensor.dim() > 0) has_foreign_operand_ = true;
  Cell* cell = is_plain ? books_.find_cell(tensor, lock) : nullptr;
  if (cell != nullptr) {
    pin(cell, effect, runtime_.is_capturing() && tensor.requires_grad() && tensor.is_leaf());
  }
  if (record_ && can_record_) add_ref(tensor, effect, cell);
  // Nested tensors have no sizes.
  if (is_plain) signature_ = with_sizes(signature_, tensor.sizes());
}

void Call::add_storage(const c10::Storage& storage, Books::Lock& lock) {
  if (Cell* cell = books_.find_cell(storage, lock)) pin(cell, Effect::kReads, false);
}

void Call::pin(Cell* cell, Effect effect, bool is_parameter) {
  ++cell->value->pins;
  if (cell->data != nullptr) books_.use_on_stream(*cell, stream_);
  operand_bytes_ += cell->value->bytes;
  const auto ref = static_cast<std::uint32_t>(record_ ? record_->refs.size() : 0);
  operands_.push_back({cell, cell->value, effect, ref, is_parameter});
}

void Call::add_ref(const at::Tensor& tensor, Effect effect, Cell* cell) {
  if (cell != nullptr) {
    Ref ref = geometry_of(tensor);
    ref.value = cell->value;
    ref.is_written = effect == Effect::kWrites;
    ref.is_scratch = effect == Effect::kHiddenWrite || is_scratch(tensor, operands_.back());
    record_->refs.push_back(std::move(ref));
    return;
  }
  // Bytes that are not in the books may change behind our back, so only tiny ones can be kept, as a
  // copy; and what has no bytes at all cannot change.
  const bool is_small = has_plain_bytes(tensor) &&
                        tensor.storage().nbytes() <= kSmallForeignBytes &&
                        (tensor.device().is_cpu() || tensor.storage().nbytes() == 0);
  if (!is_small || effect != Effect::kReads) {
    can_record_ = false;
    return;
  }
  Ref ref = geometry_of(tensor);
  const auto* bytes = static_cast<const std::byte*>(tensor.storage().data());
  ref.copy.assign(bytes, bytes + tensor.storage().nbytes());
  ref.copy_device = tensor.device();
  record_->refs.push_back(std::move(ref));
}

// An op that writes all of a storage does not care for what was there.
bool Call::is_scratch(const at::Tensor& tensor, const Operand& operand) const {
  if (operand.effect != Effect::kWrites || !effects_.overwrites || !covers_storage(tensor)) {
    return false;
  }
  // What it has written shows in what it returns; see has_left_scratch().
  if (op_.schema().returns().empty()) return false;
  if (operand.value->is_source() && !operand.value->is_blank) return false;
  return std::count_if(operands_.begin(), operands_.end(),
                       [&](const Operand& other) { return other.cell == operand.cell; }) == 1;
}

bool Call::writes_source() const {
  return std::any_of(operands_.begin(), operands_.end(), [this](const Operand& operand) {
    if (operand.effect != Effect::kWrites || !operand.value->is_source()) return false;
    return !record_ || !record_->refs[operand.ref].is_scratch ||
           operand.cell->born_step != books_.step_number;
  });
}

// Without saying so, so that its replay would read a source that is not what it was.
bool Call::overwrites_what_it_reads() const {
  return std::any_of(operands_.begin(), operands_.end(), [this](const Operand& written) {
    if (written.effect != Effect::kHiddenWrite || !written.value->is_source()) return false;
    return std::any_of(operands_.begin(), operands_.end(), [&](const Operand& read) {
      return read.cell == written.cell && read.effect != Effect::kHiddenWrite;
    });
  });
}

// What is written by hand between the op and its replay gives another result.
bool Call::reads_what_is_open() const {
  return std::any_of(operands_.begin(), operands_.end(),
                     [](const Operand& operand) { return operand.cell->open_holds > 0; });
}

void Call::decide_on_record() {
  if (reads_what_is_open() || overwrites_what_it_reads()) can_record_ = false;
  if (can_record_) unmark_shared_scratch();
  if (!can_record_ || operands_.empty() || writes_source()) {
    if (record_ && !can_record_) ++books_.counters.kept_unsafe;
    can_record_ = false;
    record_.reset();
  }
}

// A storage that is written through one tensor and read through another: nothing of it is scratch.
void Call::unmark_shared_scratch() {
  for (const Operand& operand : operands_) {
    if (!record_->refs[operand.ref].is_scratch || operand.effect == Effect::kHiddenWrite) continue;
    for (const Operand& other : operands_) {
      if (other.cell == operand.cell && other.ref != operand.ref) {
        record_->refs[operand.ref].is_scratch = false;
      }
    }
  }
}

void Call::follow_plan(Books::Lock& lock) {
  c10::SmallVector<Cell*, 4> cells;
  for (const Operand& operand : operands_) cells.push_back(operand.cell);
  tick_ = runtime_.guide().follow(signature_, {cells.data(), cells.size()}, lock);
  if (tick_ == 0) runtime_.drop_capture(lock);
}

bool Call::changes(const Operand& operand) const {
  return operand.effect != Effect::kReads || effects_.changes_storages;
}

bool Call::needs_help() const {
  // A view does not look at the bytes.
  if (effects_.is_view) return false;
  return std::any_of(operands_.begin(), operands_.end(), [this](const Operand& operand) {
    if (!operand.value->is_resident() || operand.value->is_arriving) return true;
    return changes(operand) && operand.value->is_source() && has_readers(*operand.value);
  });
}

void Call::bring_back() {
  if (effects_.is_view) return;
  std::vector<ValueP> written_sources;
  for (const Operand& operand : operands_) {
    runtime_.restorer().restore(operand.value);
    if (changes(operand)) written_sources.push_back(operand.value);
  }
  runtime_.restorer().settle(written_sources);
  Books::Lock lock(books_);
  written_sources.clear();
}

PrecisionsOf Call::precisions_obeyed() const {
  if (!effects_.obeys_precision) return PrecisionsOf::kNone;
  return books_.torch_device().is_cuda() ? PrecisionsOf::kCuda : PrecisionsOf::kCpu;
}

// With everything in place: what the record says of the state in which the op runs.
void Call::fill_record(Books::Lock&) {
  if (!record_) return;
  record_->keys = keys_;
  record_->settings = current_settings(precisions_obeyed());
  for (Operand& operand : operands_) {
    Ref& ref = record_->refs[operand.ref];
    const RecordP& producer = operand.value->producer;
    if (producer && !ref.is_scratch) record_->depth = std::max(record_->depth, producer->depth + 1);
    // Before the kernel, which may take the last reference to an argument off the stack.
    if (!producer && !ref.is_scratch && !ref.is_written)
      ref.hold = books_.storage_of(*operand.value);
  }
  if (record_->depth > kMaxDepth) {
    ++books_.counters.kept_unsafe;
    record_.reset();
  }
}

void Call::draw_and_run() {
  TurnToDraw turn;
  if (effects_.is_random) turn = turn_to_draw();
  save_random_state();
  run_kernel();
}

void Call::save_random_state() {
  if (!record_ || !effects_.is_random) return;
  record_->random =
      random_states_before(stack_, first_, books_.torch_device(), effects_.is_foreign);
  if (!record_->random.empty()) return;
  Books::Lock lock(books_);
  record_.reset();
}

void Call::run_kernel() {
  engine::Device& device = books_.device();
  OpTimer& timer = runtime_.timer();
  const bool is_capturing = runtime_.is_capturing();
  if (is_capturing) {
    // A device that waits for its host would be waited for by it.
    if (has_foreign_operand_) {
      device.stop_pacing();
    } else {
      device.pace();
    }
    device.ledger().start_watermark();
  }
  const auto start = is_capturing ? Clock::now() : Clock::time_point();
  const auto room_made = [&] { return device.ledger().pleas() + device.stitches(); };
  const std::int64_t room_made_before = is_capturing ? room_made() : 0;
  const OpTimer::Timing timing = timer.start(signature_, is_capturing);
  is_begun_ = true;
  lowtide::run::run_kernel(op_, keys_, stack_);
  const bool made_room = is_capturing && room_made() != room_made_before;
  seconds_ = timer.stop(timing, signature_, operand_bytes_,
                        {.is_own = has_foreign_operand_, .made_room = made_room});
  if (!is_capturing) return;
  timer.note_before(signature_, seconds_before_);
  // What the host waits for the device is no time of the op's own, nor what it does to make room.
  if (has_foreign_operand_ || made_room || !device.is_paced()) return;
  timer.note_host(signature_, std::chrono::duration<double>(Clock::now() - start).count());
}

void Call::enter_results(Books::Lock& lock) {
  books_.advance();
  ++books_.counters.ops;
  books_.clock_seconds += seconds_;
  // Holds must be taken before the storages get new values.
  if (record_ && (!hold_new_sources() || has_left_scratch())) record_.reset();
  if (record_) {
    record_->seconds = seconds_;
    record_->replay_seconds = seconds_;
    record_->is_entered = true;
    record_->tick = tick_;
    if (tick_ >= 0) runtime_.guide().note_record(tick_, record_);
    ++books_.records_alive;
  }
  for (Operand& operand : operands_) {
    // What is to leave may do so for all that a view cares.
    if (!effects_.is_view || !operand.value->is_leaving) books_.use(*operand.value);
  }
  if (record_ || effects_.keeps_arguments) enter_record(lock);
  const bool is_captured = runtime_.is_capturing();
  enter_written(lock);
  enter_outputs(lock);
  if (is_captured) write_down(lock);
  if (is_keeping_what_is_made()) {
    for (Cell* cell : new_cells()) ++cell->holds;
  }
  unpin(lock);
  if (tick_ >= 0) {
    const auto results = new_cells();
    runtime_.guide().after_op(tick_, {results.data(), results.size()}, lock);
  }
  if (books_.rules.evict_everything) evict_what_was_used(lock);
  operands_.clear();
  made_.clear();
  record_.reset();
}

// While the op ran, another thread may have ended a step or overwritten a source, so that inputs of
// the op became sources: those that it wrote, or whose storage has died, nobody can give back.
bool Call::hold_new_sources() {
  for (const Operand& operand : operands_) {
    Ref& ref = record_->refs[operand.ref];
    if (ref.is_scratch || ref.hold || !operand.value->is_source()) continue;
    if (ref.is_written) return false;
    ref.hold = books_.storage_of(*operand.value);
    if (!ref.hold) return false;
  }
  return true;
}

// An `out` that was too large was made smaller, and the rest of its storage is what it was.
bool Call::has_left_scratch() const {
  if (!effects_.overwrites) return false;
  bool has_left = false;
  for_each_result(op_, stack_, [&](const at::Tensor& tensor) {
    has_left = has_left || std::any_of(operands_.begin(), operands_.end(), [&](const Operand& one) {
                 return one.effect == Effect::kWrites && record_->refs[one.ref].is_scratch &&
                        has_plain_bytes(tensor) &&
                        tensor.storage().unsafeGetStorageImpl() == one.cell->impl &&
                        !covers_storage(tensor);
               });
  });
  return has_left;
}

void Call::enter_record(Books::Lock&) {
  for (Operand& operand : operands_) {
    if (effects_.keeps_arguments) ++operand.cell->holds;
    if (!record_) continue;
    // Neither the contents nor the life of scratch matter; its size does.
    if (!record_->refs[operand.ref].is_scratch) add_reader(*operand.value, record_);
  }
}

void Call::enter_written(Books::Lock& lock) {
  for (Operand& operand : operands_) {
    // A storage may be given twice; it is one write.
    if (!changes(operand) || operand.cell->value != operand.value) continue;
    const bool is_result = record_ && operand.effect == Effect::kWrites;
    ValueP now = books_.renew(*operand.cell, is_result ? record_ : nullptr, lock);
    if (is_result) record_->written.emplace_back(operand.ref, now);
    made_.push_back(std::move(now));
  }
}

void Call::enter_outputs(Books::Lock& lock) {
  const std::size_t results = op_.schema().returns().size();
  for (std::size_t i = stack_.size() - results; i < stack_.size(); ++i) {
    const c10::IValue& value = stack_[i];
    if (value.isTensor()) {
      enter_output(value.toTensor(), lock);
    } else if (value.isTensorList()) {
      for (const c10::IValue& element : value.toListRef()) enter_output(element.toTensor(), lock);
    } else {
      for_each_tensor(value, [&](const at::Tensor& tensor) { books_.find_cell(tensor, lock); });
    }
  }
}

void Call::enter_output(const at::Tensor& tensor, Books::Lock& lock) {
  ValueP value;
  if (tensor.defined() && has_plain_bytes(tensor)) {
    if (Cell* cell = books_.add_cell(tensor, lock)) {
      value = cell->value;
      value->is_blank = effects_.is_blank_factory;
      // What a sparse or nested tensor hands out of itself, its ops go on using.
      const bool is_inside =
          has_opaque_operand_ && (tensor.use_count() > 1 || tensor.storage().use_count() > 1);
      if (effects_.keeps_arguments || is_inside) ++cell->holds;
      if (record_) books_.set_producer(*value, record_);
      made_.push_back(value);
    }
  }
  if (record_) record_->outputs.emplace_back(value);
}

// Those of storages that were not among the arguments.
c10::SmallVector<Cell*, 2> Call::new_cells() const {
  c10::SmallVector<Cell*, 2> cells;
  for (const ValueP& value : made_) {
    if (value->place == nullptr) continue;
    const bool is_new =
        std::none_of(operands_.begin(), operands_.end(),
                     [&](const Operand& operand) { return operand.cell == value->place; });
    if (is_new) cells.push_back(value->place);
  }
  return cells;
}

void Call::write_down(Books::Lock&) {
  Capture& capture = runtime_.capture();
  Capture::OpEvent event;
  event.name = effects_.name;
  for (const Operand& operand : operands_) {
    const StorageId id = capture.used(*operand.cell, operand.is_parameter);
    event.arguments.push_back(id);
    const bool is_side_effect = operand.effect == Effect::kHiddenWrite;
    if (effects_.is_view) {
      event.views.push_back(id);
      continue;
    }
    event.reads.push_back({id, is_side_effect});
    if (operand.effect != Effect::kReads) event.writes.push_back({id, is_side_effect});
  }
  for (const Cell* cell : new_cells()) {
    event.results.push_back(capture.made(*cell));
    event.writes.push_back({event.results.back(), false});
  }
  event.signature = signature_;
  const engine::Ledger& ledger = books_.device().ledger();
  event.workspace_bytes = std::max<std::int64_t>(0, ledger.watermark_bytes() - ledger.held_bytes());
  event.is_backward = is_in_backward();
  event.node = autograd_node();
  event.is_replayable = record_ != nullptr;
  event.is_random = effects_.is_random;
  capture.add(std::move(event));
}

void Call::evict_what_was_used(Books::Lock& lock) {
  for (Operand& operand : operands_) {
    if (operand.cell->value == operand.value && operand.value->bytes >= books_.rules.floor_bytes) {
      books_.evict_value(*operand.value, lock);
    }
  }
  for (const ValueP& value : made_) {
    if (value->bytes >= books_.rules.floor_bytes) books_.evict_value(*value, lock);
  }
}

// The op failed half-way: what it was writing is whatever it is now.
void Call::forget_written(Books::Lock& lock) {
  for (Operand& operand : operands_) {
    if (operand.effect == Effect::kReads || operand.cell->value != operand.value) continue;
    if (operand.value->is_resident()) books_.renew(*operand.cell, nullptr, lock);
  }
}

void Call::unpin(Books::Lock&) {
  for (Operand& operand : operands_) --operand.value->pins;
}

}  // namespace lowtide::run
