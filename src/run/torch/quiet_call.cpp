// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "run/torch/quiet_call.h"

#include <algorithm>

#include "run/torch/signature.h"
#include "run/torch/storage_access.h"

namespace lowtide::run {

QuietCall::QuietCall(Runtime& runtime, const OpEffects& effects)
    : runtime_(runtime),
      books_(runtime.books()),
      effects_(effects),
      name_(effects.name),
      signature_(signature_of(effects)) {}

QuietCall::~QuietCall() {
  if (!is_begun_) return;
  // The kernel failed, and may have been issued all the same.
  Books::Lock lock(books_);
  books_.advance();
  books_.end_quiet_use(use_, lock);
  runtime_.guide().give_up(lock);
}

// False: some argument keeps its bytes where we do not see them, or they are away.
bool QuietCall::collect(const TensorPointers& arguments, Books::Lock& lock) {
  return std::all_of(arguments.begin(), arguments.end(),
                     [&](const at::Tensor* tensor) { return add(*tensor, lock); });
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

bool QuietCall::begin(const TensorPointers& arguments) {
  if (effects_.keeps_arguments || effects_.changes_storages) return false;
  if (effects_.is_random) turn_ = turn_to_draw();
  use_.stream = books_.device().current_stream();
  Books::Lock lock(books_);
  books_.bury_dead(lock);
  Guide& guide = runtime_.guide();
  guide.catch_up();
  if (runtime_.is_capturing() || books_.rules.evict_everything) return false;
  // What is not entered can only be moved.
  if (!books_.rules.may_move) return false;
  if (!collect(arguments, lock) || !guide.expects_quiet(signature_)) return false;
  if (!guide.are_ready({use_.storages.data(), use_.storages.size()}, use_.stream)) return false;
  tick_ = guide.go_on();
  books_.begin_quiet_use(use_, lock);
  is_begun_ = true;
  return true;
}

void QuietCall::end(const TensorPointers& results) {
  Books::Lock lock(books_);
  TensorPointers made;
  for (const at::Tensor* result : results) {
    if (!is_new(*result, lock)) continue;
    const bool is_known = std::any_of(made.begin(), made.end(), [&](const at::Tensor* other) {
      return other->storage().unsafeGetStorageImpl() == result->storage().unsafeGetStorageImpl();
    });
    if (!is_known) made.push_back(result);
  }
  is_begun_ = false;
  books_.advance();
  ++books_.counters.ops;
  books_.end_quiet_use(use_, lock);
  runtime_.guide().after_quiet_op(tick_, {made.data(), made.size()}, effects_.is_blank_factory,
                                  lock);
}

// Whether it has a storage that was not among the arguments'.
bool QuietCall::is_new(const at::Tensor& result, Books::Lock& lock) const {
  if (!has_plain_bytes(result) || !books_.can_manage(result, lock)) return false;
  c10::StorageImpl* storage = result.storage().unsafeGetStorageImpl();
  return std::find(use_.storages.begin(), use_.storages.end(), storage) == use_.storages.end();
}

}  // namespace lowtide::run
