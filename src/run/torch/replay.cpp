// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "run/torch/replay.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>

#include <ATen/ops/empty.h>
#include <c10/core/impl/LocalDispatchKeySet.h>

#include "base/check.h"
#include "run/torch/arguments.h"
#include "run/torch/current_op.h"
#include "run/torch/interceptor.h"
#include "run/torch/random_state.h"

namespace lowtide::run {
namespace {

// Below autograd and below the interceptor.
class PlainDispatch {
 public:
  PlainDispatch()
      : guard_(c10::autograd_dispatch_keyset_with_ADInplaceOrView | c10::DispatchKeySet(kOurKey) |
               c10::DispatchKeySet(c10::DispatchKey::Python)) {}

 private:
  c10::impl::ExcludeDispatchKeyGuard guard_;
};

c10::Storage empty_storage(std::int64_t bytes, c10::Device device) {
  const PlainDispatch plain;
  return at::empty({bytes}, at::TensorOptions().dtype(at::kByte).device(device)).storage();
}

// One replay in small steps.
class Replay {
 public:
  Replay(Books& books, Record& record) : books_(books), record_(record) {}

  void run() {
    choose_storages();
    fill_storages();
    // In force for the arguments too: torch makes other tensors in inference mode.
    const SettingsGuard settings(*record_.settings);
    build_stack();
    // An op that returns several of its arguments needs them to outlive the call: torch takes them
    // off the stack before it puts references to them there as results.
    const torch::jit::Stack arguments = stack_;
    const CurrentOp name(record_.handle.schema().name());
    const RandomStateGuard random(record_.random);
    record_.handle.redispatchBoxed(record_.keys, &stack_);
  }

  void hand_out(const ValueP& wanted);

 private:
  void choose_storages();
  void fill_storages();
  void build_stack();
  bool is_needed_elsewhere(const Value& value) const;
  void give(const std::weak_ptr<Value>& weak, const at::Tensor& tensor, Books::Lock& lock);

  Books& books_;
  Record& record_;
  // By Ref: what its tensor looks at.
  std::vector<c10::Storage> storages_;
  torch::jit::Stack stack_;
};

// A ghost that only this op reads is of no more use after an op that overwrites it.
bool Replay::is_needed_elsewhere(const Value& value) const {
  if (!value.is_ghost() || value.pins > 1) return true;
  return std::any_of(value.readers.begin(), value.readers.end(), [this](const auto& weak) {
    const RecordP reader = weak.lock();
    return reader && reader.get() != &record_;
  });
}

// Under the lock: the values' own storages, and those of ghosts that may be overwritten.
void Replay::choose_storages() {
  Books::Lock lock(books_);
  storages_.resize(record_.refs.size());
  std::unordered_map<const Value*, std::size_t> written;
  for (std::size_t i = 0; i < record_.refs.size(); ++i) {
    const Ref& ref = record_.refs[i];
    if (ref.value && ref.is_written && !ref.is_scratch) written.emplace(ref.value.get(), i);
  }
  for (const auto& [value, i] : written) {
    Value& old = *record_.refs[i].value;
    if (!is_needed_elsewhere(old)) storages_[i] = books_.take_temporary(old, lock);
  }
  for (std::size_t i = 0; i < record_.refs.size(); ++i) {
    const Ref& ref = record_.refs[i];
    if (!ref.value || ref.is_scratch || written.contains(ref.value.get())) continue;
    storages_[i] = books_.storage_of(*ref.value);
  }
}

// Without the lock: what needs memory of its own.
void Replay::fill_storages() {
  for (std::size_t i = 0; i < record_.refs.size(); ++i) {
    const Ref& ref = record_.refs[i];
    if (storages_[i]) continue;
    if (!ref.value) {
      if (ref.keys.empty()) continue;
      storages_[i] = empty_storage(static_cast<std::int64_t>(ref.copy.size()), ref.copy_device);
      if (!ref.copy.empty()) {
        std::memcpy(storages_[i].mutable_data(), ref.copy.data(), ref.copy.size());
      }
      continue;
    }
    // The same storage given twice to an op that writes it stays one storage.
    for (std::size_t j = 0; j < record_.refs.size() && !ref.is_scratch; ++j) {
      if (record_.refs[j].value == ref.value && storages_[j]) storages_[i] = storages_[j];
    }
    if (storages_[i]) continue;
    storages_[i] = empty_storage(ref.value->bytes, books_.torch_device());
    if (ref.is_scratch) continue;
    Books::Lock lock(books_);
    const c10::Storage old = books_.storage_of(*ref.value);
    books_.device().copy_within(storages_[i].mutable_data(), old.data(), ref.value->bytes);
  }
}

void Replay::build_stack() {
  stack_ = record_.arguments;
  using Form = ArgumentRefs::Form;
  for (const ArgumentRefs& argument : record_.argument_refs) {
    c10::List<at::Tensor> list;
    c10::List<std::optional<at::Tensor>> optional_list;
    for (std::uint32_t i = argument.first; i < argument.first + argument.count; ++i) {
      const Ref& ref = record_.refs[i];
      const at::Tensor tensor = storages_[i] ? tensor_from(ref, storages_[i]) : at::Tensor();
      if (argument.form == Form::kTensor) stack_[argument.argument] = tensor;
      if (argument.form == Form::kList) list.push_back(tensor);
      if (argument.form == Form::kOptionalList) {
        optional_list.push_back(tensor.defined() ? std::optional(tensor) : std::nullopt);
      }
    }
    if (argument.form == Form::kList) stack_[argument.argument] = list;
    if (argument.form == Form::kOptionalList) stack_[argument.argument] = optional_list;
  }
}

void Replay::give(const std::weak_ptr<Value>& weak, const at::Tensor& tensor, Books::Lock& lock) {
  const ValueP value = weak.lock();
  if (!value || value->is_resident() || !tensor.defined() || !tensor.has_storage()) return;
  // A ghost that no record will read is not worth its bytes.
  if (value->is_ghost() && value->readers.empty() && value->pins == 0) return;
  LT_CHECK(static_cast<std::int64_t>(tensor.storage().nbytes()) == value->bytes, "replay of ",
           record_.handle.schema().name(), " gave ", tensor.storage().nbytes(), " bytes and not ",
           value->bytes);
  if (value->residency == Residency::kMoved) return;
  books_.install(value, tensor.storage(), lock);
}

void Replay::hand_out(const ValueP& wanted) {
  Books::Lock lock(books_);
  // The results are not there before this point in the order of the device's work.
  books_.advance();
  ++books_.counters.recomputes;
  books_.counters.recompute_seconds += record_.seconds;
  books_.clock_seconds += record_.seconds;
  std::size_t position = 0;
  const auto next = [&](const at::Tensor& tensor) {
    if (position < record_.outputs.size()) give(record_.outputs[position], tensor, lock);
    ++position;
  };
  for (const c10::IValue& result : stack_) {
    if (result.isTensor()) next(result.toTensor());
    if (!result.isTensorList()) continue;
    for (const c10::IValue& element : result.toListRef()) next(element.toTensor());
  }
  for (const auto& [ref, value] : record_.written) {
    give(value, tensor_from(record_.refs[ref], storages_[ref]), lock);
  }
  books_.tell(ValueEvent::kReplayed, *wanted);
  LT_CHECK(wanted->is_resident(), "replay of ", record_.handle.schema().name(),
           " did not yield the value that it made before");
}

}  // namespace

void replay(Books& books, const RecordP& record, const ValueP& wanted) {
  Replay replay(books, *record);
  replay.run();
  replay.hand_out(wanted);
}

c10::Storage new_bytes(Books& books, std::int64_t bytes) {
  return empty_storage(bytes, books.torch_device());
}

}  // namespace lowtide::run
