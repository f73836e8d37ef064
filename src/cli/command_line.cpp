// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "cli/command_line.h"

#include <algorithm>
#include <csignal>
#include <exception>
#include <iostream>
#include <sstream>
#include <utility>

#include <CLI/CLI.hpp>
#include <fcntl.h>
#include <unistd.h>

#include "base/check.h"
#include "base/suggest.h"
#include "cli/output_file.h"

namespace lowtide::cli {
namespace {

constexpr const char* kAbout =
    "Trains models inside a memory budget, and plans what to keep, move and recompute for that.";
constexpr const char* kExamples =
    "  lowtide train small_resnet --budget 40%\n"
    "  lowtide verify small_resnet --budget 40% --steps 10\n"
    "  lowtide plan step.trace --budget 60% -o step.plan\n"
    "  lowtide simulate step.trace step.plan\n"
    "  lowtide compare step.trace --budget 80%,60%,40%\n"
    "  lowtide compare small_resnet --measure --budgets 80%,60%,40%\n"
    "  lowtide report run.json -o report.html\n";
constexpr const char* kFooter =
    "\n'lowtide VERB --help' shows the options of a verb.\n"
    "Exit codes: 0 done, 1 failed, 2 usage, 3 does not fit the budget, 130 interrupted.";

// The program's parser and its verbs.
class CommandLine {
 public:
  explicit CommandLine(const Program& program) : program_(program.about, "lowtide") {
    program_.set_version_flag("--version", "lowtide " + program.version,
                              "Print the version and exit");
    program_.footer(base::concat("\nExamples:\n", program.examples, kFooter));
    program_.get_formatter()->label("SUBCOMMAND", "VERB");
    program_.get_formatter()->label("Positionals", "Arguments");
    for (const AddVerb add : program.verbs) {
      verbs_.push_back(add(program_));
      verbs_.back().app->group("Verbs");
    }
  }

  ExitCode run(std::vector<std::string> arguments, Console& console) {
    require_verb(arguments);
    std::reverse(arguments.begin(), arguments.end());  // as CLI11 wants them
    try {
      program_.parse(std::move(arguments));
    } catch (const CLI::Success& success) {  // help or version was asked for
      program_.exit(success, console.out, console.err);
      return ExitCode::kDone;
    } catch (const CLI::ParseError& error) {
      throw UsageError(base::concat(explain(error), "; try '", command(), " --help'"));
    }
    return parsed_verb()->run(console);
  }

 private:
  std::vector<std::string> verb_names() const {
    std::vector<std::string> names;
    for (const Verb& verb : verbs_) names.push_back(verb.app->get_name());
    return names;
  }

  void require_verb(const std::vector<std::string>& arguments) const {
    const std::vector<std::string> names = verb_names();
    if (arguments.empty()) {
      throw UsageError(
          base::concat("no verb given; known are ", base::join(names), "; try 'lowtide --help'"));
    }
    const std::string& first = arguments.front();
    const bool is_known = std::find(names.begin(), names.end(), first) != names.end();
    if (is_known || first.starts_with("-")) return;
    throw UsageError(base::concat("unknown verb '", first, "'; known are ", base::join(names),
                                  base::suggestion(first, names)));
  }

  const Verb* parsed_verb() const {
    const auto found = std::find_if(verbs_.begin(), verbs_.end(),
                                    [](const Verb& verb) { return verb.app->parsed(); });
    return found == verbs_.end() ? nullptr : &*found;
  }

  std::string command() const {
    const Verb* verb = parsed_verb();
    return verb == nullptr ? "lowtide" : "lowtide " + verb->app->get_name();
  }

  // An option that does not exist explains most other errors, so it comes first.
  std::string explain(const CLI::ParseError& error) const {
    const Verb* verb = parsed_verb();
    const CLI::App& app = verb == nullptr ? program_ : *verb->app;
    std::vector<std::string> options;
    for (const CLI::Option* option : app.get_options()) {
      if (!option->get_lnames().empty()) options.push_back("--" + option->get_lnames().front());
    }
    const std::vector<std::string> extras = program_.remaining(true);
    for (const std::string& extra : extras) {
      if (!extra.starts_with("-")) continue;
      const std::string name = extra.substr(0, extra.find('='));
      return base::concat("unknown option '", name, "'", base::suggestion(name, options));
    }
    if (!extras.empty()) return base::concat("unexpected argument '", extras.front(), "'");
    return error.what();
  }

  CLI::App program_;
  std::vector<Verb> verbs_;
};

// Where a standard stream is closed, the next file that is opened would take its place, and what is
// said there would go into a checkpoint or a spill file. Writing still fails as it does.
void hold_standard_streams() {
  for (const int file : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (::fcntl(file, F_GETFD) >= 0) continue;
    // Takes the lowest number that is free, which is this one.
    static_cast<void>(::open("/dev/null", O_RDONLY));
  }
}

}  // namespace

Program planning_program(std::string version) {
  Program program = {std::move(version),
                     kAbout,
                     kExamples,
                     {add_check, add_plan, add_simulate, add_compare, add_policies, add_report},
                     hand_over_compare};
  for (const AddVerb add : torch_verbs()) program.verbs.push_back(add);
  return program;
}

ExitCode run_command(const std::vector<std::string>& arguments, const Program& program,
                     Console& console) {
  try {
    if (program.hand_over != nullptr) program.hand_over(arguments);
    return CommandLine(program).run(arguments, console);
  } catch (const UsageError& error) {
    print_error(console.err, error.what());
    return ExitCode::kUsage;
  } catch (const OutOfMemory& error) {
    print_error(console.err, error.what());
    return ExitCode::kDoesNotFit;
  } catch (const InternalError& error) {
    print_error(console.err, base::concat("internal error, please report it: ", error.what()));
  } catch (const Error& error) {
    print_error(console.err, error.what());
  } catch (const std::bad_alloc&) {
    print_error(console.err, "the host's memory ran out; try a smaller trace");
  } catch (const std::exception& error) {
    print_error(console.err, base::concat("internal error, please report it: ", error.what()));
  }
  return ExitCode::kFailed;
}

int run_process(int argument_count, char** arguments, const Program& program) {
  hold_standard_streams();
  // A reader that goes away (`| head`) shows as a failed write, and that is handled below.
  std::signal(SIGPIPE, SIG_IGN);
  std::ostringstream out;
  Console console{std::cin, out, std::cerr, style_of_stdout(), stderr_is_terminal()};
  ExitCode code = run_command({arguments + 1, arguments + argument_count}, program, console);
  try {
    write_all(STDOUT_FILENO, out.str(), "standard output");
  } catch (const IoError& error) {
    print_error(console.err, error.what());
    code = ExitCode::kFailed;
  }
  return static_cast<int>(code);
}

}  // namespace lowtide::cli
