// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "run/torch/quiet_call.h"

#include <algorithm>

#include "run/torch/arguments.h"
#include "run/torch/current_op.h"
#include "run/torch/signature.h"
#include "run/torch/storage_access.h"

namespace lowtide::run {

QuietCall::QuietCall(Runtime& runtime, const c10::OperatorHandle& op, const OpEffects& effects,
                     c10::DispatchKeySet keys, torch::jit::Stack& stack)
    : runtime_(runtime),
      books_(runtime.books()),
      op_(op),
      effects_(effects),
      keys_(keys),
      stack_(stack),
      first_(stack.size() - op.schema().arguments().size()),
      signature_(signature_of(effects)) {}

QuietCall::~QuietCall() {
  if (!is_begun_) return;
  // The kernel failed, and may have been issued all the same.
  Books::Lock lock(books_);
  books_.advance();
  books_.end_quiet_use(use_, lock);
  runtime_.guide().give_up(lock);
}

bool QuietCall::run() {
  if (effects_.keeps_arguments || effects_.changes_storages || !begin()) return false;
  const CurrentOp name(effects_.name);
  op_.redispatchBoxed(keys_, &stack_);
  end();
  return true;
}

// False: some argument keeps its bytes where we do not see them, or they are away.
bool QuietCall::collect(Books::Lock& lock) {
  bool is_plain = true;
  for (std::size_t i = first_; i < stack_.size(); ++i) {
    for_each_tensor(stack_[i],
                    [&](const at::Tensor& tensor) { is_plain = add(tensor, lock) && is_plain; });
  }
  return is_plain;
}

bool QuietCall::add(const at::Tensor& tensor, Books::Lock& lock) {
  if (!has_plain_bytes(tensor)) return false;
  signature_ = with_sizes(signature_, tensor.sizes());
  if (!books_.can_manage(tensor, lock)) {
    return !tensor.has_storage() || tensor.storage().nbytes() == 0 ||
           bytes_of(*tensor.storage().unsafeGetStorageImpl()) != nullptr;
  }
  use_.storages.push_back(tensor.storage().unsafeGetStorageImpl());
  return true;
}

bool QuietCall::begin() {
  use_.stream = books_.device().current_stream();
  Books::Lock lock(books_);
  books_.bury_dead(lock);
  Guide& guide = runtime_.guide();
  guide.catch_up();
  if (runtime_.is_capturing() || books_.rules.evict_everything) return false;
  if (!collect(lock) || !guide.expects_quiet(signature_)) return false;
  if (!guide.are_ready({use_.storages.data(), use_.storages.size()}, use_.stream)) return false;
  tick_ = guide.go_on();
  books_.begin_quiet_use(use_, lock);
  is_begun_ = true;
  return true;
}

void QuietCall::end() {
  Books::Lock lock(books_);
  for_each_result(op_, stack_, [&](const at::Tensor& tensor) { add_result(tensor, lock); });
  is_begun_ = false;
  books_.advance();
  ++books_.counters.ops;
  books_.end_quiet_use(use_, lock);
  runtime_.guide().after_quiet_op(tick_, {results_.data(), results_.size()},
                                  effects_.is_blank_factory, lock);
}

// Those of storages that were not among the arguments, each once.
void QuietCall::add_result(const at::Tensor& tensor, Books::Lock& lock) {
  if (!has_plain_bytes(tensor) || !books_.can_manage(tensor, lock)) return;
  c10::StorageImpl* storage = tensor.storage().unsafeGetStorageImpl();
  if (std::find(use_.storages.begin(), use_.storages.end(), storage) != use_.storages.end()) return;
  const bool is_known = std::any_of(results_.begin(), results_.end(), [&](const at::Tensor* other) {
    return other->storage().unsafeGetStorageImpl() == storage;
  });
  if (!is_known) results_.push_back(&tensor);
}

}  // namespace lowtide::run
