// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "torch/random_program.h"

#include <string>
#include <utility>

#include <ATen/CPUGeneratorImpl.h>

#include "run/torch/failed_backward.h"
#include "torch/programs/throwing.h"
#include "torch/random_training.h"

namespace lowtide::torch_test {

RandomTraining::RandomTraining(std::uint64_t seed)
    : seed_(seed),
      data_(at::kCPU, seed),
      own_(at::make_generator<at::CPUGeneratorImpl>(seed)),
      statements_(12 + static_cast<int>(base::Random(seed).below(40))) {
  torch::manual_seed(seed);
  for (int i = 0; i < 4; ++i) weights_.push_back(data_.normal({kSide, kSide}));
  weights_.push_back(data_.normal({kSide}));
  for (at::Tensor& weight : weights_) {
    weight.mul_(0.08).requires_grad_();
    momenta_.push_back(at::zeros_like(weight));
  }
  words_ = data_.normal({300, kSide}).mul_(0.5).requires_grad_();
  running_mean_ = at::zeros({kSide});
  running_variance_ = at::ones({kSide});
  inputs_ = data_.normal({3, 2 * kSide, kSide});
  picked_ = data_.integers(0, kSide, {kSide});
  mask_ = data_.uniform({kSide, kSide}) < 0.3;
  kept_ = {data_.normal({kSide, kSide}), data_.normal({2 * kSide, kSide})};
}

std::vector<NamedTensor> RandomTraining::state() const {
  std::vector<NamedTensor> all;
  const auto add = [&all](const std::string& name, const at::Tensor& tensor) {
    if (tensor.defined()) all.push_back({name, tensor});
  };
  const auto add_all = [&add](const std::string& name, const std::vector<at::Tensor>& tensors) {
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      add(name + std::to_string(i), tensors[i]);
      add(name + std::to_string(i) + ".grad", tensors[i].grad());
    }
  };
  add("loss", loss_);
  add_all("weight", weights_);
  add_all("momentum", momenta_);
  add_all("words", {words_});
  add("running_mean", running_mean_);
  add("running_variance", running_variance_);
  add_all("kept", kept_);
  add("errors", at::full({1}, errors_, at::kLong));
  at::Generator own = own_;
  const std::scoped_lock lock(own.mutex());
  add("own generator", own.get_state());
  return all;
}

std::int64_t RandomTraining::below(std::int64_t count) {
  return static_cast<std::int64_t>(choose_.below(static_cast<std::uint64_t>(count)));
}

at::Tensor& RandomTraining::one_of(std::vector<at::Tensor>& tensors) {
  return tensors[static_cast<std::size_t>(choose_.below(tensors.size()))];
}

at::Tensor RandomTraining::rows_of_floats() {
  at::Tensor x = any();
  if (x.is_complex()) x = at::view_as_real(x.resolve_conj()).flatten(0, -2);
  if (x.scalar_type() != at::kFloat) x = x.to(at::kFloat);
  if (x.dim() != 2 || x.size(1) != kSide) {
    x = x.reshape({-1});
    const std::int64_t rows = x.numel() / kSide;
    if (rows == 0) return x.sum() + inputs_.select(0, 0);
    x = x.narrow(0, 0, rows * kSide).reshape({rows, kSide});
  }
  if (x.size(0) > 4 * kSide) x = x.narrow(0, 1, 2 * kSide);
  return x;
}

at::Tensor RandomTraining::square() {
  at::Tensor x = rows_of_floats();
  while (x.size(0) < kSide) x = at::cat({x, x});
  return x.size(0) == kSide ? x : x.narrow(0, x.size(0) - kSide, kSide);
}

at::Tensor RandomTraining::target() {
  if (chance(25)) return rows_of_floats();
  return chance(50) ? rows_of_floats().clone() : rows_of_floats() * 0.9;
}

void RandomTraining::put(at::Tensor x) {
  if (pool_.size() > 3 && chance(45)) {
    one_of(pool_) = std::move(x);
  } else {
    pool_.push_back(std::move(x));
  }
}

const std::vector<RandomTraining::Row>& RandomTraining::rows() {
  using R = RandomTraining;
  static const std::vector<Row> all = {{"unary", 14, &R::unary},
                                       {"binary", 10, &R::binary},
                                       {"layer", 14, &R::layer},
                                       {"index", 6, &R::index},
                                       {"view", 8, &R::view},
                                       {"types", 5, &R::types},
                                       {"in_place", 9, &R::in_place},
                                       {"write_through_a_view", 7, &R::write_through_a_view},
                                       {"out", 4, &R::out},
                                       {"random", 8, &R::random},
                                       {"lists", 4, &R::lists},
                                       {"storages", 4, &R::storages},
                                       {"sources", 4, &R::sources},
                                       {"reads", 2, &R::reads},
                                       {"let_go", 7, &R::let_go},
                                       {"keep", 3, &R::keep},
                                       {"use_kept", 3, &R::use_kept},
                                       {"inference", 2, &R::inference},
                                       {"autocast", 3, &R::autocast},
                                       {"gradients_in_between", 2, &R::gradients_in_between},
                                       {"backward_now", 1, &R::backward_now},
                                       {"turn_a_switch", 3, &R::turn_a_switch},
                                       {"tiny_numbers", 1, &R::tiny_numbers},
                                       {"many_small_tensors", 1, &R::many_small_tensors},
                                       {"lazy_copies", 3, &R::lazy_copies},
                                       {"hooks", 3, &R::hooks},
                                       {"second_derivatives", 2, &R::second_derivatives},
                                       {"other_types", 2, &R::other_types},
                                       {"deep_copies", 3, &R::deep_copies}};
  return all;
}

void RandomTraining::draw(std::uint64_t seed, int statements) {
  choose_ = base::Random(seed);
  int total = 0;
  for (const Row& row : rows()) total += row.weight;
  for (int i = 0; i < statements; ++i) {
    std::int64_t place = below(total);
    const Row* chosen = rows().data();
    while (place >= chosen->weight) place -= (chosen++)->weight;
    const std::uint64_t next = choose_.next();
    try_to([&] { (this->*chosen->act)(); });
    // Whatever it has drawn until it was refused.
    choose_ = base::Random(next);
  }
}

void RandomTraining::try_to(const std::function<void()>& act) {
  try {
    act();
  } catch (const c10::Error&) {
    ++errors_;
    // Torch would keep what a backward pass had not come to.
    run::forget_failed_backward();
  } catch (const PlannedFailure&) {
    run::forget_failed_backward();
    throw;
  }
}

void RandomTraining::forget_gradients() {
  words_.mutable_grad().reset();
  const bool keeps_storages = seed_ % 5 >= 3;
  for (at::Tensor& weight : weights_) {
    if (keeps_storages && weight.grad().defined()) {
      weight.mutable_grad().zero_();
    } else {
      weight.mutable_grad().reset();
    }
  }
}

at::Tensor RandomTraining::loss_of_pool() {
  at::Tensor loss = at::zeros({});
  for (const at::Tensor& x : pool_) {
    if (!x.is_floating_point()) continue;
    try_to([&] { loss = loss + x.to(at::kFloat).square().mean() * 0.1; });
  }
  return loss;
}

void RandomTraining::update() {
  const torch::NoGradGuard no_grad;
  std::vector<at::Tensor> parameters, gradients, momenta;
  for (std::size_t i = 0; i < weights_.size(); ++i) {
    if (!weights_[i].grad().defined()) continue;
    parameters.push_back(weights_[i]);
    gradients.push_back(weights_[i].grad());
    momenta.push_back(momenta_[i]);
  }
  if (words_.grad().defined()) words_.sub_(words_.grad(), 0.001);
  if (parameters.empty()) return;
  if (seed_ % 3 == 0) {
    at::_foreach_mul_(momenta, 0.9);
    at::_foreach_add_(momenta, gradients, 1);
    at::_foreach_add_(parameters, momenta, -0.001);
  } else if (seed_ % 3 == 1) {
    at::_fused_sgd_(parameters, gradients, momenta, /*weight_decay=*/0.0, /*momentum=*/0.9,
                    /*lr=*/0.001, /*dampening=*/0.0, /*nesterov=*/false, /*maximize=*/false,
                    /*is_first_step=*/false);
  } else {
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      momenta[i].mul_(0.9).add_(gradients[i]);
      parameters[i].add_(momenta[i], -0.001);
    }
  }
}

// Some programs have steps of two shapes that begin alike, some throw, and in some nobody but
// autograd keeps values until backward.
void RandomTraining::step(int i) {
  const bool is_other = seed_ % 2 == 0 && i % 4 == 2;
  const bool throws = seed_ % 7 == 3 && i == 4;
  switches_.reset();
  pool_ = {inputs_.select(0, i % 3) * 1.0};
  forget_gradients();
  draw(seed_, statements_ * 2 / 3);
  draw(seed_ + (is_other ? 17 : 1), statements_ / 3);
  if (throws && seed_ % 2 == 1) {
    pool_.clear();
    throw PlannedFailure("in forward");
  }
  at::Tensor loss = loss_of_pool();
  if (throws) loss = throw_in_backward(loss);
  loss_ = loss.detach();
  if (seed_ % 4 < 2) pool_.clear();
  try_to([&] {
    if (loss.requires_grad()) loss.backward();
  });
  update();
  if (seed_ % 3 != 0) pool_.clear();
}

Program random_program(std::uint64_t seed) {
  return {.name = "random" + std::to_string(seed),
          .make = [seed](at::Device, std::uint64_t) -> std::unique_ptr<Training> {
            return std::make_unique<RandomTraining>(seed);
          },
          .cpu_only = "its data is made on the CPU"};
}

}  // namespace lowtide::torch_test
