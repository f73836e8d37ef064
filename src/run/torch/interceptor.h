// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

namespace lowtide::run {

class Runtime;

// The one door to torch's dispatcher: a fallback for every operator on a key right below autograd.
// It is there as soon as the library is loaded, and does nothing until a thread switches it on.

// All intercepted ops go to this runtime; null: they pass.
void set_active_runtime(Runtime* runtime);
Runtime* active_runtime();

// Whether the ops of this thread are intercepted. Autograd's threads take it over from the thread
// that calls backward().
void set_thread_managed(bool managed);
bool is_thread_managed();

}  // namespace lowtide::run
