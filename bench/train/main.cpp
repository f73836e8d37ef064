// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include <fstream>
#include <iostream>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "report.h"
#include "trace/json.h"

// bench/train/README.md says what this measures and how; bench/train/run runs it.

namespace {

using namespace lowtide::bench;

struct Arguments {
  WorkOptions work;
  MeasureOptions measure;
  bool op_costs = false;
  std::string save_trace;
  std::string json;
  std::string commit;
  std::string machine;
};

void add_options(CLI::App& app, Arguments& arguments) {
  app.add_option("--model", arguments.work.model,
                 "resnet18 to resnet152, gpt2-medium, or one of the zoo's for pictures");
  app.add_option("--device", arguments.work.device, "cpu or cuda");
  app.add_option("--batch", arguments.work.batch, "0: the benchmark's own");
  app.add_option("--size", arguments.work.size, "of pictures, or of texts; 0: the benchmark's own");
  app.add_option("--layers", arguments.work.layers, "0: as many as the model has");
  app.add_flag("--channels-last", arguments.work.channels_last,
               "of a model for pictures: as tensor cores want them, so that cuDNN need not turn "
               "them in a workspace");
  app.add_option("--vocabulary", arguments.work.vocabulary, "of the GPT");
  app.add_option("--warm-up", arguments.measure.warm_up_steps, "steps before the timed ones");
  app.add_flag("!--torch-pages", arguments.measure.own_pages,
               "on a GPU, leave large blocks to torch's allocator");
  app.add_option("--steps", arguments.measure.timed_steps, "timed steps of a mode in a round");
  app.add_option("--rounds", arguments.measure.rounds, "how often all modes take turns");
  app.add_option("--seconds", arguments.measure.seconds, "no third round is begun after so long");
  app.add_option("--only", arguments.measure.only, "only modes with one of these in their name");
  app.add_option("--timeline", arguments.measure.timeline,
                 "write one more step of the last mode down in this file, for chrome://tracing");
  app.add_flag("--each-step", arguments.measure.says_each_step,
               "say of each step of a session how long it took: how soon it settles");
  app.add_flag("--op-costs", arguments.op_costs, "measure the host's cost of an op instead");
  app.add_option("--save-trace", arguments.save_trace,
                 "write a plain step down in this file instead, for lowtide plan and simulate");
  app.add_option("--budget", arguments.measure.budget,
                 "also guided under these: sizes, or shares of the plain peak as 70%,50%; with "
                 "--save-trace: of the session the step is seen in");
  app.add_option("--policies", arguments.measure.policies, "who plans under them (default: auto)")
      ->delimiter(',');
  app.add_option("--json", arguments.json, "also write the figures to this file");
  app.add_option("--commit", arguments.commit, "said in the file");
  app.add_option("--machine", arguments.machine, "said in the file");
}

// The fourth step, when optimizer states exist and times are known.
void save_trace(const WorkOptions& options, const std::string& budget, const std::string& file) {
  const WorkOptions full = with_defaults(options);
  set_numerics(full);
  const auto work = make_work(full);
  work->begin(false);
  lowtide::Session session({.budget = budget, .device = full.device, .step_aside = false});
  for (int i = 0; i < 3; ++i) session.step([&] { work->step(); });
  session.capture_next_step();
  session.step([&] { work->step(); });
  std::ofstream(file) << lowtide::trace::print_json(session.captured(full.model));
}

std::string command_line(int argc, char** argv) {
  std::string line = "bench/train";
  for (int i = 1; i < argc; ++i) line += std::string(" ") + argv[i];
  return line;
}

std::vector<std::string> too_costly(const std::vector<OpCost>& costs) {
  std::vector<std::string> broken;
  for (const OpCost& cost : costs) {
    if (median(cost.watching) > kMostNanoseconds) {
      broken.push_back(cost.name + " on " + cost.device + ": costs more than 2 us an op");
    }
  }
  return broken;
}

int run(const Arguments& arguments, const std::string& command) {
  if (!arguments.save_trace.empty()) {
    save_trace(arguments.work, arguments.measure.budget, arguments.save_trace);
    return 0;
  }
  nlohmann::json json = {
      {"command", command}, {"commit", arguments.commit}, {"machine", arguments.machine}};
  std::vector<std::string> broken;
  if (arguments.op_costs) {
    const auto costs = measure_op_costs(arguments.work.device, arguments.measure.rounds);
    print(std::cout, costs);
    broken = too_costly(costs);
    json["op_costs"] = to_json(costs);
  } else {
    const Measurement measurement = measure(arguments.work, arguments.measure);
    print(std::cout, measurement);
    broken = broken_promises(measurement);
    json.update(to_json(measurement));
  }
  for (const std::string& promise : broken) std::cout << "BROKEN: " << promise << "\n";
  json["broken"] = broken;
  if (!arguments.json.empty()) std::ofstream(arguments.json) << json.dump(1) << "\n";
  return broken.empty() ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  Arguments arguments;
  CLI::App app("Trains under budgets and without, in turn, and compares time, memory and bits.");
  add_options(app, arguments);
  CLI11_PARSE(app, argc, argv);
  try {
    return run(arguments, command_line(argc, argv));
  } catch (const std::exception& error) {
    std::cerr << "bench/train: " << error.what() << "\n";
    return 2;
  }
}
