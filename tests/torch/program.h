// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include <ATen/core/Tensor.h>

// Small training programs that the end-to-end tests run plainly and under a budget. Each of them is
// deterministic: the same device, seed and number of steps give the same state, bit for bit.

namespace lowtide::torch_test {

struct NamedTensor {
  std::string name;
  at::Tensor tensor;
};

// A program that has begun: model, data and optimizer exist. Used by one thread.
class Training {
 public:
  Training() = default;
  virtual ~Training() = default;
  Training(const Training&) = delete;
  Training& operator=(const Training&) = delete;

  // One training step. Steps are taken in order, from 0.
  virtual void step(int i) = 0;
  // Loss of the last step, parameters, gradients, buffers and what the optimizer keeps, always in
  // the same order. What does not exist (a gradient before the first step) is left out.
  virtual std::vector<NamedTensor> state() const = 0;
};

struct Program {
  // Reads well as a part of a test's name.
  std::string name;
  // Seeds the generators of torch, so what was drawn before does not matter.
  std::function<std::unique_ptr<Training>(at::Device, std::uint64_t seed)> make;
  // Why it does not run on a GPU; empty: it does.
  std::string cpu_only = {};
};

// All programs, by family. Names are unique.
const std::vector<Program>& programs();
// Throws InvalidInput if there is no such program.
const Program& program(const std::string& name);

// Programs that differ in nothing but the optimizer, on a model small enough for a thousand steps.
const std::vector<Program>& optimizer_programs();

// The families, each in its own file under programs/.
std::vector<Program> attention_programs();
std::vector<Program> autograd_programs();
std::vector<Program> convolution_programs();
std::vector<Program> dense_programs();
std::vector<Program> embedding_programs();
std::vector<Program> in_place_programs();
std::vector<Program> indexing_programs();
std::vector<Program> loop_programs();
std::vector<Program> recurrent_programs();
std::vector<Program> view_programs();

}  // namespace lowtide::torch_test
