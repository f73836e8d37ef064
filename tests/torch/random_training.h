// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include <torch/torch.h>

#include "base/random.h"
#include "torch/program.h"
#include "torch/training.h"

namespace lowtide::torch_test {

// Switches of the process that decide on bits: as they were once this is gone.
class Switches {
 public:
  Switches();
  ~Switches();
  Switches(const Switches&) = delete;
  Switches& operator=(const Switches&) = delete;

  // One of five.
  static void turn(std::int64_t which, bool is_on);
  void reset();

 private:
  int threads_;
};

// What random_program() makes. A step draws one statement after the other, from the same seed as
// the step before; statements work on a pool of values.
class RandomTraining final : public Training {
 public:
  explicit RandomTraining(std::uint64_t seed);

  void step(int i) override;
  std::vector<NamedTensor> state() const override;

 private:
  static constexpr std::int64_t kSide = 128;

  struct Row {
    const char* name;
    // How often it is drawn, among the others.
    int weight;
    void (RandomTraining::*act)();
  };
  static const std::vector<Row>& rows();

  // In [0, count), and with a chance of so many in a hundred.
  std::int64_t below(std::int64_t count);
  bool chance(int percent) { return below(100) < percent; }
  at::Tensor& one_of(std::vector<at::Tensor>& tensors);

  at::Tensor any() { return one_of(pool_); }
  // Of 32 bits and with kSide columns; made from another if need be. And with kSide rows, too.
  at::Tensor rows_of_floats();
  at::Tensor square();
  at::Tensor& weight() { return weights_[static_cast<std::size_t>(below(4))]; }
  // To be written: one that nobody else has, or, now and then, any.
  at::Tensor target();
  void put(at::Tensor x);

  // The statements.
  void unary();
  void binary();
  void layer();
  void index();
  void view();
  void types();
  void in_place();
  void write_through_a_view();
  void out();
  void random();
  void lists();
  void storages();
  void sources();
  void reads();
  void let_go();
  void keep();
  void use_kept();
  void inference();
  void autocast();
  void gradients_in_between();
  void backward_now();
  // In random_modes.cpp.
  void turn_a_switch();
  void tiny_numbers();
  void many_small_tensors();
  void lazy_copies();
  void hooks();
  void second_derivatives();
  void other_types();
  void deep_copies();

  void draw(std::uint64_t seed, int statements);
  // A program of this kind may well do what torch refuses; then it goes on.
  void try_to(const std::function<void()>& act);
  void forget_gradients();
  at::Tensor loss_of_pool();
  void update();

  const std::uint64_t seed_;
  Switches switches_;
  Data data_;
  at::Generator own_;
  base::Random choose_{1};
  int statements_;
  std::vector<at::Tensor> weights_, momenta_, kept_, pool_;
  at::Tensor words_, running_mean_, running_variance_, inputs_, picked_, mask_, loss_;
  std::int64_t errors_ = 0;
};

}  // namespace lowtide::torch_test
