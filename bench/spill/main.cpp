// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <chrono>
#include <fstream>
#include <iomanip>
#include <iostream>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/bytes.h"
#include "disk_speed.h"
#include "lowtide/session.h"
#include "work.h"

// bench/spill/README.md says what this measures and how.

namespace {

using namespace lowtide;
using namespace lowtide::bench;

// As the spill file does it.
constexpr std::int64_t kPieceBytes = std::int64_t{4} << 20;
constexpr int kDepth = 8;

struct Arguments {
  WorkOptions work;
  std::string folder = ".";
  std::string budget = "192MiB";
  std::string host_cap = "128MiB";
  std::vector<std::string> policies = {"online", "evict_all", "capuchin"};
  int warm_up = 4;
  int steps = 5;
  std::int64_t disk_bytes = std::int64_t{2} << 30;
  std::string json;
  std::string commit;
  std::string machine;
};

void add_options(CLI::App& app, Arguments& arguments) {
  app.add_option("--folder", arguments.folder, "on the disk to be measured");
  app.add_option("--device", arguments.work.device, "cpu or cuda");
  app.add_option("--layers", arguments.work.layers);
  app.add_option("--width", arguments.work.width);
  app.add_option("--batch", arguments.work.batch);
  app.add_option("--budget", arguments.budget, "of the device");
  app.add_option("--host-cap", arguments.host_cap);
  app.add_option("--policy", arguments.policies, "online, or a policy that plans; several");
  app.add_option("--warm-up", arguments.warm_up, "steps before the timed ones");
  app.add_option("--steps", arguments.steps, "timed steps");
  app.add_option("--disk-bytes", arguments.disk_bytes, "written and read to measure the disk");
  app.add_option("--json", arguments.json, "also write the figures to this file");
  app.add_option("--commit", arguments.commit, "said in the file");
  app.add_option("--machine", arguments.machine, "said in the file");
}

struct Run {
  std::vector<double> step_seconds;
  at::Tensor parameters;
  // Of the timed steps.
  SessionStats stats;
};

template <class Step>
std::vector<double> time_steps(int count, const Step& step) {
  std::vector<double> seconds;
  for (int i = 0; i < count; ++i) {
    const auto start = std::chrono::steady_clock::now();
    step();
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    seconds.push_back(taken.count());
  }
  return seconds;
}

Run run_plainly(const Arguments& arguments) {
  Work work(arguments.work);
  Run run;
  time_steps(arguments.warm_up, [&] { work.step(); });
  run.step_seconds = time_steps(arguments.steps, [&] { work.step(); });
  run.parameters = work.parameters();
  return run;
}

Run run_spilling(const Arguments& arguments, const std::string& policy) {
  SessionOptions options;
  options.device = arguments.work.device;
  options.budget = arguments.budget;
  options.host_cap = arguments.host_cap;
  options.means = Means::kHost;
  options.policy = policy;
  options.wait_for_plans = true;
  options.spill_dir = arguments.folder;
  Session session(options);
  Work work(arguments.work);
  const auto step = [&] { session.step([&] { work.step(); }); };
  time_steps(arguments.warm_up, step);
  Run run;
  const SessionStats before = session.stats();
  run.step_seconds = time_steps(arguments.steps, step);
  run.stats = session.stats();
  run.stats.bytes_to_disk -= before.bytes_to_disk;
  run.stats.bytes_from_disk -= before.bytes_from_disk;
  run.stats.disk_write_seconds -= before.disk_write_seconds;
  run.stats.disk_read_seconds -= before.disk_read_seconds;
  run.stats.disk_wait_seconds -= before.disk_wait_seconds;
  run.parameters = work.parameters();
  return run;
}

double median(std::vector<double> values) {
  std::nth_element(values.begin(), values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2),
                   values.end());
  return values[values.size() / 2];
}

double sum(const std::vector<double>& values) {
  double total = 0;
  for (const double value : values) total += value;
  return total;
}

double rate(std::int64_t bytes, double seconds) {
  return seconds > 0 ? static_cast<double>(bytes) / seconds : 0;
}

nlohmann::json figures_of(const Run& run, const DiskSpeed& disk, double plain_seconds) {
  const SessionStats& stats = run.stats;
  const double write = rate(stats.bytes_to_disk, stats.disk_write_seconds);
  const double read = rate(stats.bytes_from_disk, stats.disk_read_seconds);
  // What the disk alone would take for the same bytes.
  const double own_seconds =
      static_cast<double>(stats.bytes_to_disk) / disk.write_bytes_per_second +
      static_cast<double>(stats.bytes_from_disk) / disk.read_bytes_per_second;
  return {{"step_seconds", run.step_seconds},
          {"step_over_plain", median(run.step_seconds) / plain_seconds},
          {"bytes_to_disk", stats.bytes_to_disk},
          {"bytes_from_disk", stats.bytes_from_disk},
          {"write_bytes_per_second", write},
          {"read_bytes_per_second", read},
          {"write_over_own", write / disk.write_bytes_per_second},
          {"read_over_own", read / disk.read_bytes_per_second},
          {"disk_share_of_step", own_seconds / sum(run.step_seconds)},
          {"waited_seconds", stats.disk_wait_seconds},
          {"peak_bytes", stats.peak_bytes},
          {"host_peak_bytes", stats.host_peak_bytes},
          {"spill_peak_bytes", stats.spill_peak_bytes},
          {"io", stats.disk_io},
          {"guided_steps", stats.guided_steps},
          {"prefetches", stats.prefetches}};
}

void print(const std::string& policy, const nlohmann::json& figures, bool has_plain_bits) {
  const auto giga = [&](const char* key) { return figures[key].get<double>() / 1e9; };
  std::cout << std::fixed << std::setprecision(2) << std::left << std::setw(10) << policy
            << std::right << " step " << figures["step_over_plain"].get<double>()
            << " of plain; written " << giga("bytes_to_disk") << " GB at "
            << giga("write_bytes_per_second") << " GB/s ("
            << figures["write_over_own"].get<double>() << " of the disk's own), read "
            << giga("bytes_from_disk") << " GB at " << giga("read_bytes_per_second") << " GB/s ("
            << figures["read_over_own"].get<double>() << "); the disk alone would take "
            << figures["disk_share_of_step"].get<double>() << " of the time; waited "
            << figures["waited_seconds"].get<double>() << " s; "
            << (has_plain_bits ? "plain bits" : "OTHER BITS") << std::endl;
}

int run(const Arguments& arguments) {
  at::globalContext().setDeterministicAlgorithms(true, false);
  at::globalContext().setDeterministicFillUninitializedMemory(false);
  nlohmann::json json = {
      {"command", "bench/spill"},     {"commit", arguments.commit},
      {"machine", arguments.machine}, {"activation_bytes", Work::activation_bytes(arguments.work)},
      {"budget", arguments.budget},   {"host_cap", arguments.host_cap}};
  std::cout << "activations " << base::format_bytes(Work::activation_bytes(arguments.work))
            << ", device " << arguments.budget << ", host " << arguments.host_cap << std::endl;
  const Run plain = run_plainly(arguments);
  const double plain_seconds = median(plain.step_seconds);
  json["plain_step_seconds"] = plain.step_seconds;
  bool is_well = true;
  for (const std::string& policy : arguments.policies) {
    // Right before each, since a disk is not the same all day.
    const DiskSpeed disk =
        measure_disk(arguments.folder, arguments.disk_bytes, kPieceBytes, kDepth);
    const Run spilling = run_spilling(arguments, policy);
    const bool has_plain_bits = at::equal(plain.parameters, spilling.parameters);
    const bool is_used = spilling.stats.bytes_from_disk > 0;
    nlohmann::json figures = figures_of(spilling, disk, plain_seconds);
    figures["disk_write_bytes_per_second"] = disk.write_bytes_per_second;
    figures["disk_read_bytes_per_second"] = disk.read_bytes_per_second;
    figures["has_plain_bits"] = has_plain_bits;
    print(policy, figures, has_plain_bits);
    json["policies"][policy] = std::move(figures);
    is_well = is_well && has_plain_bits && is_used &&
              spilling.stats.peak_bytes <= spilling.stats.budget_bytes;
  }
  if (!arguments.json.empty()) std::ofstream(arguments.json) << json.dump(1) << "\n";
  return is_well ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app(
      "Trains a model whose activations go to disk, and compares with the disk's own speed.");
  add_options(app, arguments);
  CLI11_PARSE(app, argc, argv);
  try {
    return run(arguments);
  } catch (const std::exception& error) {
    std::cerr << "bench/spill: " << error.what() << "\n";
    return 2;
  }
}
