// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

namespace lowtide::run {

// What an op does to one of its arguments.
enum class Effect : std::uint8_t {
  kReads,
  // Reads it and writes it.
  kWrites,
  // Writes it without saying so, and nothing it returns depends on what was there: a replay gets
  // scratch memory.
  kHiddenWrite,
};

// What the runtime must know of an operator beside its kernel. Derived from the schema, and from
// the tables in effects.cpp where the schema does not tell.
struct OpEffects {
  std::string name;
  std::vector<Effect> arguments;
  // Hidden writes only happen when this flag among the arguments is true; -1: always.
  int hidden_write_flag = -1;
  // Touches no bytes: views, metadata, queries.
  bool is_metadata = false;
  // Returns other tensors over the storages of its arguments.
  bool is_view = false;
  // Yields the same bits when called again with the same arguments, settings and random state.
  bool is_replayable = true;
  // Draws random numbers, as far as is known.
  bool is_random = false;
  // Not one of torch's own: what its schema does not say, nobody has looked into.
  bool is_foreign = false;
  // Multiplies matrices or convolves, so that torch's settings of precision matter. Unknown ops
  // may.
  bool obeys_precision = true;
  // Takes or returns some, which only foreign ops do.
  bool has_dictionaries = false;
  // Makes a tensor out of nothing. Users fill such tensors by hand, so they are sources.
  bool is_factory = false;
  // A factory whose result holds no contents yet.
  bool is_blank_factory = false;
  // Every byte of what it writes is new.
  bool overwrites = false;
  // Gives a tensor another storage or changes a storage's size.
  bool changes_storages = false;
  // Hands its tensors to threads or libraries that go on using them: they stay for good.
  bool keeps_arguments = false;
  // Works through its lists entry by entry, so that parts of the lists can be done one after
  // another.
  bool is_multi_tensor = false;

  Effect effect(std::size_t argument, const torch::jit::Stack& stack, std::size_t first) const;
};

// The effects of an operator; computed once. The reference stays valid. Any thread.
const OpEffects& effects_of(const c10::OperatorHandle& op);

}  // namespace lowtide::run
