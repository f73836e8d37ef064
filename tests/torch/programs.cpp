// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include <iterator>
#include <utility>

#include "lowtide/errors.h"
#include "torch/program.h"

namespace lowtide::torch_test {
namespace {

std::vector<Program> all_programs() {
  std::vector<Program> result;
  const auto append = [&](std::vector<Program> family) {
    result.insert(result.end(), std::make_move_iterator(family.begin()),
                  std::make_move_iterator(family.end()));
  };
  append(convolution_programs());
  append(dense_programs());
  append(attention_programs());
  append(embedding_programs());
  append(recurrent_programs());
  append(in_place_programs());
  append(view_programs());
  append(indexing_programs());
  append(autograd_programs());
  append(loop_programs());
  append(optimizer_programs());
  return result;
}

}  // namespace

const std::vector<Program>& programs() {
  static const std::vector<Program> all = all_programs();
  return all;
}

const Program& program(const std::string& name) {
  for (const Program& candidate : programs()) {
    if (candidate.name == name) return candidate;
  }
  throw InvalidInput("there is no such program: " + name);
}

}  // namespace lowtide::torch_test
