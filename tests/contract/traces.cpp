// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "traces.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <ostream>
#include <stdexcept>

#include "support/dtr_logs.h"
#include "support/random_trace.h"
#include "support/small_steps.h"
#include "trace/dtr_log.h"
#include "trace/text.h"

namespace lowtide::contract {
namespace {

using Source = TraceCase::Source;
namespace fs = std::filesystem;

constexpr int kRandomTraces = 12;
constexpr const char* kRandomPrefix = "random_";

const fs::path& recorded_folder() {
  static const fs::path kFolder = fs::path(LT_SOURCE_DIR) / "data/traces";
  return kFolder;
}

std::vector<std::string> names_of(Source source) {
  std::vector<std::string> names;
  switch (source) {
    case Source::kSmall:
      for (const auto& [name, text] : support::small_steps()) names.push_back(name);
      break;
    case Source::kRandom:
      for (int i = 1; i <= kRandomTraces; ++i) names.push_back(kRandomPrefix + std::to_string(i));
      break;
    case Source::kRecorded:
      for (const fs::directory_entry& entry : fs::directory_iterator(recorded_folder())) {
        if (entry.path().extension() == ".trace") names.push_back(entry.path().stem().string());
      }
      std::sort(names.begin(), names.end());
      break;
    case Source::kDtrLog:
      // Not read from the archive: the names of the tests must not depend on what is there.
      names = {"inceptionv4", "lstm",           "resnet32", "transformer",
               "treelstm",    "tv_densenet121", "unet",     "unroll_gan"};
      break;
  }
  return names;
}

std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  if (!in) throw std::runtime_error("cannot read " + path.string());
  return {std::istreambuf_iterator<char>(in), {}};
}

std::shared_ptr<const Trace> small_trace(const std::string& name) {
  for (const auto& [step, text] : support::small_steps()) {
    if (step == name) return std::make_shared<const Trace>(trace::parse_text(text));
  }
  throw std::runtime_error("no small step " + name);
}

// Between 20 and 64 ops.
std::shared_ptr<const Trace> random_trace(const std::string& name) {
  const int seed = std::stoi(name.substr(std::string(kRandomPrefix).size()));
  const int ops = 20 + 4 * (seed - 1);
  return std::make_shared<const Trace>(
      support::random_trace(static_cast<std::uint64_t>(seed), ops));
}

std::shared_ptr<const Trace> dtr_trace(const std::string& name) {
  const std::string log = support::dtr_log(name);
  if (log.empty()) return nullptr;
  return std::make_shared<const Trace>(trace::import_dtr_log(log, name));
}

}  // namespace

void PrintTo(const TraceCase& which, std::ostream* out) { *out << which.name; }

std::vector<TraceCase> trace_cases(Source source) {
  std::vector<TraceCase> cases;
  for (const std::string& name : names_of(source)) cases.push_back({source, name});
  return cases;
}

Problem load(const TraceCase& which) {
  Problem problem;
  problem.machine = machine_named("h200");
  switch (which.source) {
    case Source::kSmall:
      problem.machine = unit_machine();
      problem.trace = small_trace(which.name);
      break;
    case Source::kRandom:
      problem.machine = unit_machine();
      problem.trace = random_trace(which.name);
      break;
    case Source::kRecorded:
      problem.trace = std::make_shared<const Trace>(
          trace::parse_text(read_file(recorded_folder() / (which.name + ".trace"))));
      break;
    case Source::kDtrLog:
      problem.trace = dtr_trace(which.name);
      break;
  }
  return problem;
}

}  // namespace lowtide::contract
