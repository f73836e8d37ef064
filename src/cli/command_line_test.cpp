// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "cli/command_line.h"

#include <algorithm>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lowtide/policy.h"

namespace lowtide::cli {
namespace {

using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

// 100 bytes of weights and four activations; the plain step takes 500.
constexpr const char* kStep = R"(lowtide-trace 1
name chain
storage w 100 parameter start end
storage x 100 input start end
storage a 100 activation
storage b 100 activation
storage c 100 activation
storage g 100 gradient
op f1 forward : w x -> a
op f2 forward : a -> b
op f3 forward : b -> c
op b3 backward : b c -> g
op b2 backward : a g -> g
op b1 optimizer : w g -> w
)";

struct Result {
  ExitCode code;
  std::string out;
  std::string err;
};

Result run(const std::vector<std::string>& arguments, const std::string& input = kStep) {
  std::istringstream in(input);
  std::ostringstream out;
  std::ostringstream err;
  Console console{in, out, err, Style{}};
  const ExitCode code = run_command(arguments, planning_program("1.2.3"), console);
  return {code, out.str(), err.str()};
}

TEST(CommandLine, PrintsVersionAndHelp) {
  EXPECT_EQ(run({"--version"}).out, "lowtide 1.2.3\n");
  for (const char* verb : {"check", "plan", "simulate", "compare", "policies"}) {
    const Result result = run({verb, "--help"});
    EXPECT_EQ(result.code, ExitCode::kDone);
    EXPECT_THAT(result.out, HasSubstr("Examples:"));
    EXPECT_THAT(result.out, HasSubstr("--json"));
    EXPECT_THAT(result.err, IsEmpty());
  }
}

struct Case {
  std::vector<std::string> arguments;
  const char* message;
};

TEST(CommandLine, UsageErrorsAreOneLineAndSayWhatToDo) {
  const Case cases[] = {
      {{}, "no verb given; known are check, plan, simulate, compare, policies, report, train"},
      {{"plam"},
       "unknown verb 'plam'; known are check, plan, simulate, compare, policies, report, train, "
       "verify, profile, max-batch, decompose, estimate, doctor, models, run; did you mean "
       "'plan'?"},
      {{"plan", "-", "--bugdet", "1"},
       "unknown option '--bugdet'; did you mean '--budget'?; try "
       "'lowtide plan --help'"},
      {{"plan", "-"}, "--budget is required; try 'lowtide plan --help'"},
      {{"plan", "-", "--budget"}, "--budget"},
      {{"plan", "-", "-b", "9GiB", "extra"}, "unexpected argument 'extra'"},
      {{"plan", "-", "-b", "lots"}, "--budget: not a size: 'lots'"},
      {{"plan", "-", "-b", "60%", "--policy", "capucin"}, "did you mean 'capuchin'?"},
      {{"plan", "-", "-b", "60%", "--machine", "h20"}, "unknown machine 'h20'; known are h200"},
      {{"plan", "-", "-b", "60%", "--option", "x"}, "--option: not KEY=VALUE: 'x'"},
      {{"plan", "-", "-b", "60%", "--option", "x=1"}, "'lowtide policies tide' lists"},
      {{"plan", "-", "-b", "60%", "--format", "xml"}, "--format"},
      {{"simulate", "-", "--policy", "dtr"}, "--policy needs --budget"},
      {{"simulate", "-", "-"}, "standard input can be read only once"},
      {{"simulate", "-", "p", "--policy", "dtr"}, "exclude each other"},
      {{"compare", "-", "-b", "60%,x"}, "--budget: not a size: 'x'"},
      {{"check", "-", "-o", "f"}, "-o needs --to"},
      {{"check", "-", "--json", "--to", "text"}, "add -o FILE"},
      {{"policies", "--json", "--markdown"}, "exclude each other"},
      {{"policies", "nope"}, "unknown policy 'nope'; known are keep_all"},
  };
  for (const Case& test : cases) {
    const Result result = run(test.arguments);
    EXPECT_EQ(result.code, ExitCode::kUsage) << result.err;
    EXPECT_THAT(result.err, StartsWith("lowtide: error: "));
    EXPECT_THAT(result.err, HasSubstr(test.message));
    EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1) << result.err;
    EXPECT_THAT(result.out, IsEmpty());
  }
}

TEST(CommandLine, EveryPolicyOfTheCatalogueHasAPage) {
  for (const PolicyInfo& info : catalogue()) {
    const Result result = run({"policies", info.name});
    EXPECT_EQ(result.code, ExitCode::kDone);
    EXPECT_THAT(result.out, HasSubstr(info.name));
    for (const OptionInfo& option : info.options) {
      EXPECT_THAT(result.out, HasSubstr(option.name + "=" + option.default_value));
    }
    EXPECT_THAT(run({"policies", "--markdown"}).out, HasSubstr("## `" + info.name + "`"));
  }
}

TEST(CommandLine, RefusalNamesABudgetThatWorks) {
  const std::vector<std::string> plan{"plan", "-", "--machine", "unit", "--budget"};
  const auto with = [&plan](const std::string& budget) {
    std::vector<std::string> arguments = plan;
    arguments.push_back(budget);
    return arguments;
  };
  const Result refused = run(with("10"));
  EXPECT_EQ(refused.code, ExitCode::kDoesNotFit);
  EXPECT_THAT(refused.err, HasSubstr("alone needs"));
  const std::string mark = "(--budget ";
  const std::size_t begin = refused.err.find(mark);
  ASSERT_NE(begin, std::string::npos) << refused.err;
  const std::size_t end = refused.err.find(')', begin);
  const std::string smallest = refused.err.substr(begin + mark.size(), end - begin - mark.size());
  EXPECT_EQ(run(with(smallest)).code, ExitCode::kDone) << smallest;
}

TEST(CommandLine, PlanReadsWhatItPrints) {
  const Result check = run({"check", "-", "--to", "json"});
  EXPECT_EQ(check.code, ExitCode::kDone);
  EXPECT_EQ(run({"check", "-", "--to", "text"}, check.out).out,
            run({"check", "-", "--to", "text"}).out);
}

TEST(CommandLine, MalformedInputNamesTheLine) {
  const Result result = run({"check", "-"}, "lowtide-trace 1\nname t\nstorage a b c\n");
  EXPECT_EQ(result.code, ExitCode::kFailed);
  EXPECT_THAT(result.err, StartsWith("lowtide: error: standard input: line 3: "));
  EXPECT_THAT(run({"check", "-"}, " \n").err, HasSubstr("standard input is empty"));
}

TEST(CommandLine, ErrorsAreOneLineWhateverTheNameOfTheFile) {
  const Result result = run({"check", "no\nsuch\x1b[31mfile"});
  EXPECT_EQ(result.code, ExitCode::kFailed);
  EXPECT_EQ(std::count(result.err.begin(), result.err.end(), '\n'), 1);
  EXPECT_EQ(result.err.find('\x1b'), std::string::npos);
  EXPECT_THAT(result.err, EndsWith("permissions\n"));
}

}  // namespace
}  // namespace lowtide::cli
