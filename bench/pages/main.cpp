// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include <fstream>
#include <iomanip>
#include <iostream>
#include <iterator>
#include <memory>
#include <string>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/bytes.h"
#include "base/check.h"
#include "large_memory.h"
#include "lowtide/policy.h"
#include "plan/bounds.h"
#include "step_blocks.h"
#include "trace/json.h"

// bench/pages/README.md says what this measures and how.

namespace {

using namespace lowtide;
using namespace lowtide::bench;

struct Arguments {
  std::string trace;
  std::string machine = "h200";
  std::string budget = "50%";
  std::string online = "dtr";
  std::string policy = "tide";
  PolicyOptions options;
  double margin = 0.05;
  std::int64_t times = 1;
  int online_steps = 2;
  int steps = 16;
};

void add_options(CLI::App& app, Arguments& arguments) {
  app.add_option("trace", arguments.trace, "a recorded step")->required();
  app.add_option("--machine", arguments.machine, "whose costs the plans are made with");
  app.add_option("--budget", arguments.budget, "a size, or a share of the plain peak");
  app.add_option("--online", arguments.online, "the policy of the steps before there is a plan");
  app.add_option("--policy", arguments.policy, "the policy of all others");
  app.add_option("--option", arguments.options, "name and value of an option of that policy");
  app.add_option("--margin", arguments.margin, "the share of the budget that plans leave free");
  app.add_option("--times", arguments.times,
                 "so many times the batch that the step was recorded with; its ops then take what "
                 "the machine takes for their bytes");
  app.add_option("--online-steps", arguments.online_steps);
  app.add_option("--steps", arguments.steps, "in all");
}

std::string read_file(const std::string& path) {
  std::ifstream in(path);
  LT_REQUIRE(in.good(), path, " cannot be read");
  return {std::istreambuf_iterator<char>(in), {}};
}

// Parameters, gradients and states are as large for any batch.
Trace with_batch(Trace trace, std::int64_t times) {
  if (times == 1) return trace;
  auto json = nlohmann::json::parse(trace::print_json(trace));
  for (auto& storage : json["storages"]) {
    const std::string kind = storage["kind"];
    const bool grows = kind == "activation" || kind == "temporary" || kind == "input";
    if (grows) storage["bytes"] = storage["bytes"].get<std::int64_t>() * times;
  }
  for (auto& op : json["ops"]) {
    op.erase("device_seconds");
    if (!op.contains("workspace_bytes")) continue;
    op["workspace_bytes"] = op["workspace_bytes"].get<std::int64_t>() * times;
  }
  return trace::parse_json(json.dump());
}

// Large blocks of the policy's plan; where it refuses the budget, of its smallest one.
StepBlocks planned(Problem problem, const std::string& name, const PolicyOptions& options,
                   std::int64_t least_bytes) {
  const std::unique_ptr<Policy> policy = policy_named(name).make(options);
  PlanOutcome outcome = policy->plan(problem);
  if (const auto* refusal = std::get_if<Refusal>(&outcome)) {
    std::cout << name << " refuses " << base::format_bytes(problem.budget_bytes) << "; takes "
              << base::format_bytes(refusal->smallest_budget_bytes) << "\n";
    problem.budget_bytes = refusal->smallest_budget_bytes;
    outcome = policy->plan(problem);
  }
  return blocks_under(problem, std::get<Plan>(outcome), least_bytes);
}

void print_row(int step, const MemoryStep& done) {
  const auto milliseconds = [](double seconds) { return 1e3 * seconds; };
  std::cout << std::setw(4) << step << std::fixed << std::setprecision(1) << std::setw(10)
            << milliseconds(done.allocate_seconds) << std::setw(10)
            << milliseconds(done.choose_seconds) << std::setw(10)
            << milliseconds(done.layout_seconds) << std::setw(10) << milliseconds(done.home_seconds)
            << std::setw(9) << done.searches << std::setw(9) << done.moved << std::setw(9)
            << done.came_home << std::setw(9) << done.stitched << std::setw(9) << done.evicted
            << (done.is_laid_out ? "  laid out" : "") << "\n";
}

void run(const Arguments& arguments) {
  Problem problem;
  problem.trace = std::make_shared<const Trace>(
      with_batch(trace::parse_any(read_file(arguments.trace)), arguments.times));
  problem.machine = machine_named(arguments.machine);
  problem.machine.tiers[0].capacity_bytes = std::int64_t{1} << 50U;
  const std::int64_t peak = plan::memory_bounds(*problem.trace, problem.machine).plain_peak_bytes;
  const std::int64_t budget = base::parse_budget(arguments.budget, peak);
  LargeMemory memory(budget);
  problem.budget_bytes = budget;
  const StepBlocks online = planned(problem, arguments.online, {}, LargeMemory::kLeastBytes);
  problem.budget_bytes -= static_cast<std::int64_t>(static_cast<double>(budget) * arguments.margin);
  const StepBlocks guided =
      planned(problem, arguments.policy, arguments.options, LargeMemory::kLeastBytes);
  std::cout << problem.trace->ops().size() << " ops; " << base::format_bytes(budget) << " in "
            << memory.pages() << " pages; large blocks of a step: " << online.blocks.size()
            << " online, " << guided.blocks.size() << " as planned\n"
            << "step  allocate    choose    layout      home searches    moved     home stitched  "
               "evicted   (milliseconds, counts)\n";
  for (int i = 0; i < arguments.steps; ++i) {
    print_row(i, memory.carry_out(i < arguments.online_steps ? online : guided));
  }
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app("Drives the memory of large blocks by the plan of a recorded step, without a GPU.");
  add_options(app, arguments);
  CLI11_PARSE(app, argc, argv);
  try {
    run(arguments);
  } catch (const std::exception& error) {
    std::cerr << "bench/pages: " << error.what() << "\n";
    return 2;
  }
  return 0;
}
