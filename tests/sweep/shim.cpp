// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
//
// Sessions for the Python tests of this folder, as plain C functions that ctypes can call. Those
// that can fail return null or -1, and lowtide_shim_error() says why. One thread at a time.
#include <exception>
#include <string>

#include <ATen/core/dispatch/Dispatcher.h>

#include "lowtide/session.h"
#include "run/torch/effects.h"

namespace {

std::string& last_error() {
  static std::string error;
  return error;
}

// What `body` returns; -1 if it throws.
template <class Body>
std::int64_t guarded(const Body& body) {
  try {
    return body();
  } catch (const std::exception& error) {
    last_error() = error.what();
    return -1;
  }
}

}  // namespace

extern "C" {

const char* lowtide_shim_error() { return last_error().c_str(); }

// `means`: 0 recompute, 1 host, 2 mixed. Everything an op used is evicted after it if asked for.
void* lowtide_shim_open(const char* budget, int means, int evict_everything,
                        std::int64_t floor_bytes) {
  lowtide::Session* session = nullptr;
  guarded([&] {
    lowtide::SessionOptions options;
    options.budget = budget;
    options.device = "cpu";
    options.means = static_cast<lowtide::Means>(means);
    options.evict_everything = evict_everything != 0;
    options.floor_bytes = floor_bytes;
    session = new lowtide::Session(options);
    return 0;
  });
  return session;
}

void lowtide_shim_close(void* session) { delete static_cast<lowtide::Session*>(session); }

std::int64_t lowtide_shim_end_step(void* session) {
  return guarded([&] {
    static_cast<lowtide::Session*>(session)->end_step();
    return 0;
  });
}

// Fills `counts`: ops, drops, moves, recomputes, records, values kept because replays are unsafe.
std::int64_t lowtide_shim_stats(void* session, std::int64_t* counts) {
  return guarded([&] {
    const lowtide::SessionStats stats = static_cast<lowtide::Session*>(session)->stats();
    const std::int64_t all[] = {stats.ops,        stats.drops,   stats.moves,
                                stats.recomputes, stats.records, stats.kept_unsafe};
    for (const std::int64_t count : all) *counts++ = count;
    return 0;
  });
}

// What the tables say that the operator ("aten::add_", "Tensor") does to an argument: 0 reads,
// 1 writes, 2 writes without saying so.
std::int64_t lowtide_shim_effect(const char* op, const char* overload, std::int64_t argument) {
  return guarded([&] {
    const auto handle = c10::Dispatcher::singleton().findSchemaOrThrow(op, overload);
    const auto& effects = lowtide::run::effects_of(handle).arguments;
    return static_cast<std::int64_t>(effects.at(static_cast<std::size_t>(argument)));
  });
}

}  // extern "C"
