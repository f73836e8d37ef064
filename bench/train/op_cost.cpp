// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "op_cost.h"

#include <chrono>
#include <functional>

#include <torch/torch.h>

#include "device_memory.h"
#include "lowtide/session.h"

namespace lowtide::bench {
namespace {

constexpr int kChainOps = 4000;
constexpr int kSmallSteps = 20;

struct Program {
  std::string name;
  std::function<void()> run;
};

// Each result is the next op's input and dies after it.
Program make_chain(const std::string& name, const std::string& device, std::int64_t elements) {
  const at::Tensor one = torch::ones({elements}, at::TensorOptions(at::Device(device)));
  return {name, [one] {
            const torch::NoGradGuard no_grad;
            at::Tensor x = one;
            for (int i = 0; i < kChainOps; ++i) x = x.add(one);
          }};
}

// Forward, backward and SGD of a perceptron, which is nearly all host work: ops of many kinds.
Program make_small_training(const std::string& device) {
  torch::manual_seed(1);
  const auto net = std::make_shared<torch::nn::SequentialImpl>();
  for (int i = 0; i < 8; ++i) {
    net->push_back(torch::nn::Linear(16, 16));
    net->push_back(torch::nn::ReLU());
  }
  net->to(at::Device(device));
  const at::Tensor input = torch::randn({8, 16}, at::TensorOptions(at::Device(device)));
  const auto optimizer =
      std::make_shared<torch::optim::SGD>(net->parameters(), torch::optim::SGDOptions(0.01));
  return {"small training", [net, input, optimizer] {
            for (int i = 0; i < kSmallSteps; ++i) {
              optimizer->zero_grad();
              net->forward(input).pow(2).mean().backward();
              optimizer->step();
            }
          }};
}

double seconds_of(const std::string& device, const std::function<void()>& run) {
  using Clock = std::chrono::steady_clock;
  synchronize(device);
  const Clock::time_point start = Clock::now();
  run();
  synchronize(device);
  return std::chrono::duration<double>(Clock::now() - start).count();
}

struct Timing {
  double seconds = 0;
  std::int64_t ops = 0;
};

Timing time_in_session(const Program& program, const SessionOptions& options) {
  Session session(options);
  session.step(program.run);
  const std::int64_t ops_before = session.stats().ops;
  const double seconds = seconds_of(options.device, [&] { session.step(program.run); });
  return {seconds, session.stats().ops - ops_before};
}

OpCost measure_program(const Program& program, const std::string& device, int rounds) {
  OpCost cost = {.name = program.name, .device = device};
  program.run();
  for (int round = 0; round < rounds; ++round) {
    const double plain = seconds_of(device, program.run);
    // Without a budget no records are kept, which would be less work.
    const Timing watching = time_in_session(
        program, {.budget = "4GiB", .device = device, .policy = "online", .step_aside = false});
    const Timing fits = time_in_session(program, {.budget = "4GiB", .device = device});
    cost.ops = watching.ops;
    const double scale = 1e9 / static_cast<double>(watching.ops);
    cost.plain.push_back(scale * plain);
    cost.watching.push_back(scale * (watching.seconds - plain));
    cost.fits.push_back(scale * (fits.seconds - plain));
  }
  return cost;
}

}  // namespace

std::vector<OpCost> measure_op_costs(const std::string& device, int rounds) {
  const std::vector<Program> programs = {make_chain("add, 64 B", device, 16),
                                         make_chain("add, 128 KiB", device, 32 << 10),
                                         make_small_training(device)};
  std::vector<OpCost> costs;
  for (const Program& program : programs) costs.push_back(measure_program(program, device, rounds));
  return costs;
}

}  // namespace lowtide::bench
