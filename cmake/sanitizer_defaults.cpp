// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
//
// What the sanitizers are to make of a libtorch that was built without them. Linked into the
// programs that use torch, so that it holds however they are started: ctest runs tests to list them
// too. ASAN_OPTIONS and TSAN_OPTIONS still come on top.

extern "C" const char* __asan_default_options();
extern "C" const char* __tsan_default_options();

// torch keeps registries and thread pools until the end of the process.
extern "C" const char* __asan_default_options() { return "detect_leaks=0"; }

// Torch guards its data by atomics that are not seen, so accesses there would look like races. What
// such a library calls from inside an intercepted function is not looked at either: so tests make
// no threads by std::async(), which runs its function in libstdc++'s pthread_once().
extern "C" const char* __tsan_default_options() { return "ignore_noninstrumented_modules=1"; }
