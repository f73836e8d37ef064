// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include <chrono>
#include <cmath>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <torch/torch.h>

#include "base/median.h"
#include "lowtide/session.h"

// bench/evict/README.md says what this measures and how.

namespace {

using namespace lowtide;

constexpr std::int64_t kValueBytes = 4096;
// So many ops are timed that each have to make room for what they give.
constexpr int kEvictions = 2000;

struct Arguments {
  std::vector<std::int64_t> values = {1000, 4000, 16000, 64000};
  int rounds = 5;
  std::string json;
  std::string commit;
  std::string machine;
};

// Nanoseconds of the host for an op, by round.
struct Row {
  std::int64_t values = 0;
  std::vector<double> with_room{};
  std::vector<double> evicting{};
};

// Makes `values` values that all stay in use, then as many more as are timed. Under a budget that
// the first ones fill, each of the others makes an old one go.
double nanoseconds_an_op(std::int64_t values, std::int64_t room_bytes) {
  SessionOptions options{.budget = std::to_string(values * kValueBytes + room_bytes),
                         .device = "cpu",
                         .means = Means::kRecompute,
                         .policy = "online",
                         .floor_bytes = kValueBytes,
                         .step_aside = false};
  Session session(options);
  const torch::NoGradGuard no_grad;
  const at::Tensor source = torch::ones({kValueBytes / 4});
  std::vector<at::Tensor> kept;
  for (std::int64_t i = 0; i < values - 1; ++i) kept.push_back(source + i);
  const std::int64_t evictions_before = session.stats().evictions;
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < kEvictions; ++i) kept.push_back(source + i);
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start;
  const std::int64_t evictions = session.stats().evictions - evictions_before;
  const bool has_room = room_bytes >= kEvictions * kValueBytes;
  if (has_room ? evictions != 0 : evictions < kEvictions / 2) {
    throw InternalError("bench/evict: " + std::to_string(evictions) + " evictions were seen");
  }
  return 1e9 * elapsed.count() / kEvictions;
}

std::vector<Row> measure(const Arguments& arguments) {
  std::vector<Row> rows;
  for (const std::int64_t values : arguments.values) rows.push_back({.values = values});
  for (int round = 0; round < arguments.rounds; ++round) {
    for (Row& row : rows) {
      row.with_room.push_back(nanoseconds_an_op(row.values, 2 * kEvictions * kValueBytes));
      row.evicting.push_back(nanoseconds_an_op(row.values, 0));
    }
  }
  return rows;
}

double middle(const std::vector<double>& times) { return base::median(times).value_or(0); }

double cost(const Row& row) { return middle(row.evicting) - middle(row.with_room); }

void print(const std::vector<Row>& rows) {
  std::cout << "live values   op with room   op that evicts   an eviction   times the first   "
               "square root\n"
            << std::fixed;
  for (const Row& row : rows) {
    const auto& first = rows.front();
    std::cout << std::setw(11) << row.values << std::setprecision(0) << std::setw(12)
              << middle(row.with_room) << " ns" << std::setw(14) << middle(row.evicting) << " ns"
              << std::setw(11) << cost(row) << " ns" << std::setprecision(2) << std::setw(18)
              << cost(row) / cost(first) << std::setw(14)
              << std::sqrt(static_cast<double>(row.values) / static_cast<double>(first.values))
              << "\n";
  }
}

nlohmann::json to_json(const std::vector<Row>& rows) {
  nlohmann::json list = nlohmann::json::array();
  for (const Row& row : rows) {
    list.push_back({{"values", row.values},
                    {"with_room_nanoseconds", row.with_room},
                    {"evicting_nanoseconds", row.evicting},
                    {"eviction_nanoseconds", cost(row)}});
  }
  return list;
}

void run(const Arguments& arguments, const std::string& command) {
  torch::set_num_threads(1);
  const std::vector<Row> rows = measure(arguments);
  print(rows);
  const nlohmann::json json = {{"command", command},
                               {"commit", arguments.commit},
                               {"machine", arguments.machine},
                               {"rows", to_json(rows)}};
  if (!arguments.json.empty()) std::ofstream(arguments.json) << json.dump(1) << "\n";
}

std::string command_line(int argc, char** argv) {
  std::string line = "bench/evict";
  for (int i = 1; i < argc; ++i) line += std::string(" ") + argv[i];
  return line;
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app("What the host spends on an eviction while few values or many could go.");
  app.add_option("--values", arguments.values, "how many could go; several")
      ->delimiter(',')
      ->check(CLI::Range(std::int64_t{100}, std::int64_t{10} << 20));
  app.add_option("--rounds", arguments.rounds, "how often each is measured")
      ->check(CLI::PositiveNumber);
  app.add_option("--json", arguments.json, "also write the figures to this file");
  app.add_option("--commit", arguments.commit, "said in the file");
  app.add_option("--machine", arguments.machine, "said in the file");
  CLI11_PARSE(app, argc, argv);
  try {
    run(arguments, command_line(argc, argv));
    return 0;
  } catch (const std::exception& error) {
    std::cerr << "bench/evict: " << error.what() << "\n";
    return 1;
  }
}
