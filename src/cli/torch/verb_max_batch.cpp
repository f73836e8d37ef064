// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include <cstdio>
#include <memory>
#include <optional>
#include <ostream>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/bytes.h"
#include "base/check.h"
#include "cli/json_text.h"
#include "cli/option_checks.h"
#include "cli/table.h"
#include "cli/torch/run_options.h"
#include "cli/torch/run_verb.h"
#include "cli/torch/verbs.h"
#include "cli/verb_options.h"
#include "train/max_batch.h"

namespace lowtide::cli {
namespace {

using nlohmann::json;

constexpr const char* kExamples =
    "\nExamples:\n"
    "  lowtide max-batch small_resnet --budget 200MiB\n"
    "  lowtide max-batch gpt --layers 4 --width 128 --heads 4 --context 128 --budget 8GiB --json\n"
    "\nEach batch is tried by some steps of a training from its beginning; one that cannot keep "
    "the\n"
    "budget is too large. Plain: nothing had to leave the device; the largest of these is timed "
    "once\n"
    "more without Lowtide. If not even one example fits, the exit code is 3.";

struct MaxBatchChoice : RunChoice {
  train::BatchSearch search;
  std::string goal = "fastest";
};

train::BatchGoal goal_of(const std::string& name) {
  if (name == "plain") return train::BatchGoal::kPlain;
  return name == "managed" ? train::BatchGoal::kManaged : train::BatchGoal::kFastest;
}

std::string rate_text(double examples_per_second) {
  char text[32];
  std::snprintf(text, sizeof text, examples_per_second < 100 ? "%.1f" : "%.0f",
                examples_per_second);
  return text;
}

Table::Row row_of(const char* name, const train::BatchTry& tried) {
  return {{name, std::to_string(tried.batch), rate_text(tried.examples_per_second()),
           base::format_seconds(tried.step_seconds), base::format_bytes(tried.peak_bytes),
           std::to_string(tried.evictions)}};
}

// How far the fastest was looked for.
std::string fastest_text(const train::MaxBatch& found) {
  std::string nearest;
  for (const std::int64_t batch : {found.tried_below, found.tried_above}) {
    if (batch == 0) continue;
    nearest += base::concat(nearest.empty() ? "" : " and ", batch);
  }
  return base::concat("\nThe fastest is that of ", found.tries.size(), " batches that were tried",
                      nearest.empty() ? "" : "; the nearest others are " + nearest, ".\n");
}

std::string text_of(const train::MaxBatch& found, const Style& style) {
  Table table({{"within " + base::format_bytes(found.budget_bytes)},
               {"batch", Align::kRight},
               {"examples/s", Align::kRight},
               {"step time", Align::kRight},
               {"memory", Align::kRight},
               {"evictions", Align::kRight}});
  if (found.plain) {
    table.add(row_of("largest, plain", *found.plain));
  } else {
    table.add({{"largest, plain", "none: something is always evicted"}});
  }
  const bool has_managed = found.goal != train::BatchGoal::kPlain;
  const bool has_fastest = found.goal == train::BatchGoal::kFastest;
  if (has_managed) table.add(row_of("largest, Lowtide", found.managed));
  if (has_fastest) table.add(row_of("fastest tried", found.fastest));
  std::string text = table.text(style);
  if (found.plain && !found.plain->is_inside_session) {
    text += "\nThe plain batch was timed without Lowtide.\n";
  }
  if (has_fastest) text += fastest_text(found);
  if (found.asked_bytes != found.budget_bytes) {
    text += base::concat("\nThe budget was ", base::format_bytes(found.asked_bytes),
                         ", but this machine has no more free than that.\n");
  }
  if (!found.failure.empty()) {
    text += "\nThe search broke off, so larger or faster batches may work: " + found.failure + "\n";
  }
  if (has_managed && found.managed.batch == found.most) {
    text += base::concat("\nNo larger batch was tried: ", found.most,
                         " is what --most and the data allow.\n");
  }
  return text;
}

json try_json(const train::BatchTry& tried) {
  json result = {{"batch", tried.batch}, {"fits", tried.fits()}};
  if (!tried.fits()) {
    result["refusal"] = tried.refusal;
    return result;
  }
  result["plain"] = tried.is_plain;
  result["inside_session"] = tried.is_inside_session;
  result["examples_per_second"] = tried.examples_per_second();
  result["step_seconds"] = tried.step_seconds;
  result["peak_bytes"] = tried.peak_bytes;
  result["evictions"] = tried.evictions;
  return result;
}

json json_of(const train::MaxBatch& found) {
  json tries = json::array();
  for (const train::BatchTry& tried : found.tries) tries.push_back(try_json(tried));
  json result = {{"model", found.training.model},
                 {"data", found.training.data},
                 {"device", found.training.device},
                 {"optimizer", found.training.optimizer},
                 {"policy", found.policy},
                 {"budget_bytes", found.budget_bytes},
                 {"most", found.most},
                 {"plain", found.plain ? try_json(*found.plain) : json(nullptr)},
                 {"tries", std::move(tries)}};
  if (found.goal != train::BatchGoal::kPlain) result["managed"] = try_json(found.managed);
  if (found.goal == train::BatchGoal::kFastest) result["fastest"] = try_json(found.fastest);
  if (found.asked_bytes != found.budget_bytes) result["asked_budget_bytes"] = found.asked_bytes;
  if (found.tried_below > 0) result["tried_below_fastest"] = found.tried_below;
  if (found.tried_above > 0) result["tried_above_fastest"] = found.tried_above;
  if (!found.failure.empty()) result["failure"] = found.failure;
  return result;
}

ExitCode run_max_batch(const CLI::App& verb, const MaxBatchChoice& choice, Console& console) {
  if (train::is_share(choice.run.memory.budget)) {
    throw UsageError(base::concat("--budget ", choice.run.memory.budget,
                                  " is a share of the plain peak, which grows with the batch; give "
                                  "a size, such as 8GiB"));
  }
  const train::RunOptions options = resolve(verb, choice);
  train::BatchSearch search = choice.search;
  search.goal = goal_of(choice.goal);
  std::optional<train::MaxBatch> found;
  run_with_progress(console, 0, [&](const train::Hooks& hooks) {
    found = train::max_batch(options, search, hooks);
  });
  if (found->was_interrupted) {
    console.err << "stopped before the largest batch was found" << std::endl;
    return ExitCode::kInterrupted;
  }
  console.out << (choice.json ? json_text(json_of(*found)) : text_of(*found, console.style));
  if (found->failure.empty()) return ExitCode::kDone;
  print_error(console.err, "the device failed, so the search broke off: " + found->failure);
  return ExitCode::kFailed;
}

}  // namespace

Verb add_max_batch(CLI::App& program) {
  auto choice = std::make_shared<MaxBatchChoice>();
  CLI::App* verb = program.add_subcommand(
      "max-batch", "Find the largest batch that trains inside a budget, and the fastest");
  add_model_options(*verb, *choice);
  add_weights_option(*verb, *choice);
  add_memory_options(*verb, *choice);
  verb->get_option("--budget")
      ->required()
      ->description("Device memory to stay within: 8GiB, 1.5GiB, 512MiB");
  verb->add_option("--look-for", choice->goal,
                   "plain (the largest without evictions), managed (and the largest under Lowtide) "
                   "or fastest (and the one with the most examples a second) (default: fastest)")
      ->check(one_of({"plain", "managed", "fastest"}))
      ->type_name("NAME");
  verb->add_option("--first", choice->search.first, "The batch that is tried first (default: 2)")
      ->check(whole_number(1))
      ->type_name("N");
  verb->add_option("--slack", choice->search.slack,
                   "A larger batch may be missed by this share of what is found (default: 0)")
      ->check(CLI::Range(0.0, 1.0).description(""))
      ->type_name("X");
  verb->add_option("--most", choice->search.most, "No larger batch is tried (default: 65536)")
      ->check(whole_number(1))
      ->type_name("N");
  add_json_option(*verb, choice->json);
  verb->footer(kExamples);
  return Verb{verb,
              [verb, choice](Console& console) { return run_max_batch(*verb, *choice, console); }};
}

}  // namespace lowtide::cli
