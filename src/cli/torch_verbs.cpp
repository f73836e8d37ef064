// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include <unistd.h>

#include "base/check.h"
#include "cli/verbs.h"

namespace lowtide::cli {
namespace {

namespace fs = std::filesystem;

constexpr const char* kProgram = "lowtide-torch";

// Beside this program, as in a build folder, or where programs are installed that are not typed.
fs::path find_torch_program() {
  std::error_code error;
  const fs::path folder = fs::read_symlink("/proc/self/exe", error).parent_path();
  for (const fs::path& place : {folder, folder / "../libexec/lowtide"}) {
    if (::access((place / kProgram).c_str(), X_OK) == 0) return place / kProgram;
  }
  throw Error(base::concat("this verb needs torch, but the program ", kProgram,
                           " was not built; build it with -DLOWTIDE_TORCH=ON, into the folder ",
                           folder.string()));
}

Verb add_forwarded(CLI::App& program, const char* name, const char* summary) {
  CLI::App* verb = program.add_subcommand(name, summary);
  // Everything after the verb is the other program's, --help too.
  verb->set_help_flag();
  verb->prefix_command();
  return Verb{verb, [verb](Console&) -> ExitCode {
                run_torch_program(verb->get_name(), verb->remaining());
              }};
}

// The words of a command line become those of another program, which takes the place of this one.
[[noreturn]] void become(const std::string& program, std::vector<std::string> arguments) {
  std::vector<char*> words;
  for (std::string& argument : arguments) words.push_back(argument.data());
  words.push_back(nullptr);
  ::execvp(program.c_str(), words.data());
  throw Error(base::concat("cannot run ", program, ": ", std::strerror(errno)));
}

// The Python package has it.
Verb add_run(CLI::App& program) {
  CLI::App* verb = program.add_subcommand("run", "Run a Python script inside a memory budget");
  verb->set_help_flag();
  verb->prefix_command();
  return Verb{verb, [verb](Console&) -> ExitCode {
                std::vector<std::string> arguments = verb->remaining();
                arguments.insert(arguments.begin(), {"python3", "-m", "lowtide", "run"});
                become("python3", std::move(arguments));
              }};
}

}  // namespace

void run_torch_program(const std::string& verb, std::vector<std::string> arguments) {
  const fs::path program = find_torch_program();
  arguments.insert(arguments.begin(), {"lowtide", verb});
  become(program.string(), std::move(arguments));
}

std::vector<AddVerb> torch_verbs() {
  return {
      [](CLI::App& program) {
        return add_forwarded(program, "train", "Train a model inside a memory budget");
      },
      [](CLI::App& program) {
        return add_forwarded(program, "verify",
                             "Train with and without a budget, and compare bit for bit");
      },
      [](CLI::App& program) {
        return add_forwarded(program, "profile",
                             "Record a step of a training, and show what takes memory and time");
      },
      [](CLI::App& program) {
        return add_forwarded(program, "max-batch",
                             "Find the largest batch that trains inside a budget, and the fastest");
      },
      [](CLI::App& program) {
        return add_forwarded(
            program, "decompose",
            "Decompose the weights of a trained model where that pays, and fine-tune it");
      },
      [](CLI::App& program) {
        return add_forwarded(program, "estimate",
                             "Tell how much memory a training would take, before anything runs");
      },
      [](CLI::App& program) {
        return add_forwarded(program, "doctor",
                             "Tell what this machine offers, and what is missing");
      },
      [](CLI::App& program) {
        return add_forwarded(program, "models", "List the models that can be trained");
      },
      add_run};
}

}  // namespace lowtide::cli
