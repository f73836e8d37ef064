// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

// What is trained: a model, data that was made before any session, and an optimizer.

namespace lowtide::bench {

struct WorkOptions {
  // "resnet50" (any depth), "gpt2-medium", or another model of the zoo that classifies pictures.
  std::string model = "resnet50";
  std::string device = "cuda";
  std::int64_t batch = 0;
  // Height and width of pictures; length of texts; 0: the model's own.
  std::int64_t size = 0;
  // 0: as many as the model has.
  std::int64_t layers = 0;
  // Of a model for pictures: channels last, as tensor cores want them.
  bool channels_last = false;
  std::int64_t vocabulary = 50304;
};

// The options with what was left at 0 filled in: the full size of the model's benchmark.
WorkOptions with_defaults(WorkOptions options);

// What training led to. Two runs did the same if all of it is equal.
struct Outcome {
  std::vector<float> losses;
  // For each tensor, the sum of its elements' bits taken as whole numbers.
  std::vector<std::int64_t> parameters;
  std::vector<std::int64_t> buffers;

  bool operator==(const Outcome&) const = default;
};

class Work {
 public:
  virtual ~Work() = default;
  // Back to the first parameters, without optimizer states, with the same random numbers to come.
  virtual void begin(bool checkpoint_blocks) = 0;
  virtual void step() = 0;
  // Requires: no session is open.
  virtual Outcome outcome() = 0;
  // Frees gradients and optimizer states.
  virtual void end() = 0;
};

// Throws std::invalid_argument for a model that there is not.
std::unique_ptr<Work> make_work(const WorkOptions& options);

// Deterministic kernels, and TF32 allowed.
void set_numerics(const WorkOptions& options);

}  // namespace lowtide::bench
