// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
//
// usage: lowtide_demo [DATA_FOLDER] [--device cpu|cuda] [--steps N] [--share PERCENT]
// Trains a small ResNet on Fashion-MNIST twice, plainly and inside a share of the memory that took,
// and sets both side by side.
#include <chrono>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <memory>
#include <string>
#include <vector>

#include <ATen/Context.h>
#include <ATen/Parallel.h>
#include <torch/cuda.h>
#include <torch/nn/functional/loss.h>
#include <torch/optim/sgd.h>
#include <torch/utils.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/check.h"
#include "lowtide/session.h"
#include "zoo/idx.h"
#include "zoo/small_resnet.h"

namespace lowtide::demo {
namespace {

struct Options {
  std::string data = "data/fashion-mnist";
  std::string device;
  int steps = 12;
  int share_percent = 40;
  std::int64_t batch = 256;
};

struct Pictures {
  at::Tensor pixels;
  at::Tensor classes;
};

struct Outcome {
  SessionStats stats;
  double seconds_a_step = 0;
  float loss = 0;
  std::vector<at::Tensor> state;
};

int number_from(const std::string& option, const std::string& text) {
  LT_REQUIRE(!text.empty() && text.size() < 7 &&
                 text.find_first_not_of("0123456789") == std::string::npos && std::stoi(text) > 0,
             option, " needs a number above zero, not \"", text, "\"");
  return std::stoi(text);
}

Options options_from(int count, char** words) {
  Options options;
  for (int i = 1; i < count; ++i) {
    const std::string word = words[i];
    if (!word.starts_with("--")) {
      options.data = word;
      continue;
    }
    LT_REQUIRE(i + 1 < count, word, " needs a value");
    const std::string value = words[++i];
    if (word == "--device") {
      options.device = value;
    } else if (word == "--steps") {
      options.steps = number_from(word, value);
    } else if (word == "--share") {
      options.share_percent = number_from(word, value);
    } else {
      throw InvalidInput("unknown option " + word + ": use --device, --steps or --share");
    }
  }
  if (options.device.empty()) options.device = torch::cuda::is_available() ? "cuda" : "cpu";
  return options;
}

Pictures read_pictures(const Options& options) {
  const zoo::IdxArray images = zoo::read_idx(options.data + "/t10k-images-idx3-ubyte.gz");
  const zoo::IdxArray labels = zoo::read_idx(options.data + "/t10k-labels-idx1-ubyte.gz");
  at::Tensor pixels = torch::empty(images.sizes, at::kByte);
  at::Tensor classes = torch::empty(labels.sizes, at::kByte);
  std::memcpy(pixels.data_ptr(), images.elements.data(), images.elements.size());
  std::memcpy(classes.data_ptr(), labels.elements.data(), labels.elements.size());
  return {pixels.to(at::kFloat).div_(255).unsqueeze(1), classes.to(at::kLong)};
}

void show_progress(const char* name, int step, int steps, float loss) {
  // One line that is written over and over; in a file, only how it ended.
  if (isatty(STDERR_FILENO) == 0 && step != steps) return;
  std::fprintf(stderr, "\r%-9s step %d of %d, loss %.4f", name, step, steps, loss);
  if (step == steps) std::fputc('\n', stderr);
}

// Training for so many steps, under a session or plainly.
Outcome train(const char* name, const Options& options, const Pictures& pictures, int steps,
              Session* session) {
  torch::manual_seed(1);
  zoo::SmallResnet net(zoo::SmallResnetOptions{});
  net.to(at::Device(options.device));
  torch::optim::SGD optimizer(net.parameters(), torch::optim::SGDOptions(0.1).momentum(0.9));

  Outcome outcome;
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < steps; ++i) {
    const auto step = [&] {
      const std::int64_t from = i * options.batch % (pictures.pixels.size(0) - options.batch);
      const at::Tensor pixels = pictures.pixels.narrow(0, from, options.batch).to(options.device);
      const at::Tensor classes = pictures.classes.narrow(0, from, options.batch).to(options.device);
      optimizer.zero_grad();
      const at::Tensor loss = torch::nn::functional::cross_entropy(net.forward(pixels), classes);
      loss.backward();
      optimizer.step();
      outcome.loss = loss.item<float>();
    };
    session != nullptr ? session->step(step) : step();
    show_progress(name, i + 1, steps, outcome.loss);
  }
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  outcome.seconds_a_step = elapsed.count() / steps;
  if (session != nullptr) outcome.stats = session->stats();
  for (const at::Tensor& tensor : net.parameters()) outcome.state.push_back(tensor.detach().cpu());
  for (const at::Tensor& tensor : net.buffers()) outcome.state.push_back(tensor.detach().cpu());
  return outcome;
}

// The memory that training takes when nothing is evicted. Optimizer states exist from step 2 on.
std::int64_t measure_peak(const Options& options, const Pictures& pictures) {
  Session session({.device = options.device});
  return train("measuring", options, pictures, 2, &session).stats.peak_bytes;
}

Outcome train_inside(std::int64_t budget_bytes, const Options& options, const Pictures& pictures) {
  Session session({.budget = std::to_string(budget_bytes),
                   .device = options.device,
                   .cap_reserved = budget_bytes >= kLeastReservedBudgetBytes});
  return train("budgeted", options, pictures, options.steps, &session);
}

bool is_same(const Outcome& a, const Outcome& b) {
  bool same = a.loss == b.loss && a.state.size() == b.state.size();
  for (std::size_t i = 0; same && i < a.state.size(); ++i) {
    same = torch::equal(a.state[i], b.state[i]);
  }
  return same;
}

void show(const char* name, const Outcome& outcome, double plain_seconds) {
  std::printf("%-12s %12s %14s %9.2fx %12.6f %11lld %11lld\n", name,
              base::format_bytes(outcome.stats.peak_bytes).c_str(),
              base::format_seconds(outcome.seconds_a_step).c_str(),
              outcome.seconds_a_step / plain_seconds, static_cast<double>(outcome.loss),
              static_cast<long long>(outcome.stats.evictions),
              static_cast<long long>(outcome.stats.recomputes));
}

int run(const Options& options) {
  const Pictures pictures = read_pictures(options);
  at::globalContext().setDeterministicAlgorithms(true, true);
  std::fprintf(stderr, "A small ResNet, Fashion-MNIST, batch %lld, %d steps, on %s\n",
               static_cast<long long>(options.batch), options.steps, options.device.c_str());
  const std::int64_t plain_peak = measure_peak(options, pictures);
  Outcome plain = train("plain", options, pictures, options.steps, nullptr);
  plain.stats.peak_bytes = plain_peak;
  const std::int64_t budget = plain_peak * options.share_percent / 100;
  const Outcome tight = train_inside(budget, options, pictures);

  std::printf("\n%-12s %12s %14s %10s %12s %11s %11s\n", "", "peak", "time a step", "of plain",
              "last loss", "evictions", "recomputes");
  show("plain", plain, plain.seconds_a_step);
  show(("at " + std::to_string(options.share_percent) + " %").c_str(), tight, plain.seconds_a_step);
  std::printf("\nbudget %s: %s. Losses, parameters and buffers: %s.\n",
              base::format_bytes(budget).c_str(),
              tight.stats.peak_bytes <= budget ? "kept" : "NOT KEPT",
              is_same(plain, tight) ? "bit for bit the same" : "DIFFERENT");
  return tight.stats.peak_bytes <= budget && is_same(plain, tight) ? 0 : 1;
}

}  // namespace
}  // namespace lowtide::demo

int main(int count, char** words) {
  constexpr int kUsage = 2;
  constexpr int kDoesNotFit = 3;
  try {
    return lowtide::demo::run(lowtide::demo::options_from(count, words));
  } catch (const lowtide::InvalidInput& error) {
    std::cerr << "lowtide_demo: " << error.what() << "\n";
    return kUsage;
  } catch (const lowtide::OutOfMemory& error) {
    std::cerr << "\nlowtide_demo: " << error.what() << "\n";
    return kDoesNotFit;
  } catch (const std::exception& error) {
    std::cerr << "\nlowtide_demo: " << error.what() << "\n";
    return 1;
  }
}
