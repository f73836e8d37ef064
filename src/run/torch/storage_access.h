// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <c10/core/StorageImpl.h>

// The few things we do to torch's storages that its public interface does not offer. Where torch
// versions differ in them, they differ in storage_access.cpp.

namespace lowtide::run {

// Takes the storage's bytes out of it and returns them. From then on data_ptr() of its tensors
// throws an error that tells what to do. `on_death(token)` is called when the storage dies in that
// state.
c10::DataPtr take_bytes(c10::StorageImpl& storage, void* token, void (*on_death)(void*));

// Puts bytes into a storage from which they were taken.
void put_bytes(c10::StorageImpl& storage, c10::DataPtr bytes);

// The storage's bytes are at another place from now on; those at the old one are not given back.
// Requires: they are not taken.
void redirect_bytes(c10::StorageImpl& storage, void* to);

// Takes the bytes of a storage that nobody else will use.
c10::DataPtr steal_bytes(c10::StorageImpl& storage);

// Where the bytes are; null while they are taken.
inline void* bytes_of(c10::StorageImpl& storage) {
  return storage._mutable_data_ptr_no_checks().get();
}

}  // namespace lowtide::run
