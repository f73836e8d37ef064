// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "run/torch/storage_access.h"

#include <string>
#include <utility>

#include "run/torch/torch_version.h"

namespace lowtide::run {
namespace {

#if LT_TORCH_AT_LEAST(2, 12)

void stop_throwing(c10::StorageImpl& storage) { storage.clear_data_ptr_access_error_msg_(); }

#else

// torch 2.11 can set the flag that makes data_ptr() throw, and has no public way back. Explicit
// instantiation may name private members, which gives us a pointer to it.
template <class Tag, typename Tag::Type kMember>
struct MemberAccess {
  friend typename Tag::Type member_of(Tag) { return kMember; }
};
struct ThrowsFlag {
  using Type = bool c10::StorageImpl::*;
  friend Type member_of(ThrowsFlag);
};
template struct MemberAccess<ThrowsFlag, &c10::StorageImpl::throw_on_immutable_data_ptr_>;

void stop_throwing(c10::StorageImpl& storage) { storage.*member_of(ThrowsFlag()) = false; }

#endif

void start_throwing(c10::StorageImpl& storage) {
  storage.release_data_and_set_meta_custom_data_ptr_error_msg_(std::string(
      "lowtide: the bytes of this tensor are evicted. Use it through torch's operators, or call "
      "lowtide::Session::hold(tensor) before data_ptr() is asked for; on a thread of your own, "
      "make a lowtide::Session::ThreadGuard."));
}

}  // namespace

c10::DataPtr take_bytes(c10::StorageImpl& storage, void* token, void (*on_death)(void*)) {
  c10::DataPtr bytes =
      storage.set_data_ptr(c10::DataPtr(nullptr, token, on_death, storage.device()));
  start_throwing(storage);
  return bytes;
}

void put_bytes(c10::StorageImpl& storage, c10::DataPtr bytes) {
  // The token must not fire: the storage lives on.
  storage._mutable_data_ptr_no_checks().release_context();
  stop_throwing(storage);
  // Also refreshes torch's cached answer to whether data_ptr() needs a check.
  storage.set_data_ptr_noswap(std::move(bytes));
}

void redirect_bytes(c10::StorageImpl& storage, void* to) {
  c10::DataPtr& bytes = storage._mutable_data_ptr_no_checks();
  const auto deleter = bytes.get_deleter();
  const c10::Device device = bytes.device();
  bytes.release_context();
  storage.set_data_ptr_noswap(c10::DataPtr(to, to, deleter, device));
}

c10::DataPtr steal_bytes(c10::StorageImpl& storage) {
  return storage.set_data_ptr(c10::DataPtr(nullptr, storage.device()));
}

}  // namespace lowtide::run
