// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
//
// Runs every *.case file of this folder: what a policy answers to a small step, to the letter. A
// case has text before its first section, which says what it shows, and the sections
//
//   --- trace      the step in text form, without its first two lines
//   --- problem    `machine NAME`, `budget BYTES` and `policy NAME [KEY=VALUE ...]`, a line each
//   --- plan       what stands below the head of the plan in text form, or instead of it
//   --- refusal    `smallest BYTES`, then the reason
//
// On a mismatch the answer is printed; if it is right, copy it into the file.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "lowtide/errors.h"
#include "lowtide/policy.h"
#include "plan/text.h"
#include "solve/milp.h"
#include "trace/text.h"

namespace lowtide {
namespace {

namespace fs = std::filesystem;

using Sections = std::map<std::string, std::string>;

std::vector<fs::path> case_files() {
  std::vector<fs::path> files;
  for (const fs::directory_entry& entry :
       fs::directory_iterator(fs::path(LT_SOURCE_DIR) / "tests/cases")) {
    if (entry.path().extension() == ".case") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

Sections read_sections(const fs::path& file) {
  std::ifstream in(file);
  Sections sections;
  std::string section = "description";
  for (std::string line; std::getline(in, line);) {
    if (line.rfind("--- ", 0) == 0) {
      section = line.substr(4);
      sections[section];
    } else {
      sections[section] += line + "\n";
    }
  }
  return sections;
}

struct Asked {
  Problem problem;
  std::string policy;
  PolicyOptions options;
};

Asked read_problem(const Sections& sections) {
  Asked asked;
  asked.problem.trace = std::make_shared<const Trace>(
      trace::parse_text("lowtide-trace 1\nname case\n" + sections.at("trace")));
  std::istringstream lines(sections.at("problem"));
  for (std::string line; std::getline(lines, line);) {
    std::istringstream words(line);
    std::string key;
    std::string word;
    words >> key >> word;
    if (key == "machine") {
      asked.problem.machine = machine_named(word);
    } else if (key == "budget") {
      asked.problem.budget_bytes = std::stoll(word);
    } else if (key == "policy") {
      asked.policy = word;
      while (words >> word) {
        const std::size_t equals = word.find('=');
        asked.options[word.substr(0, equals)] = word.substr(equals + 1);
      }
    } else {
      throw InvalidInput("no such line in a problem: " + line);
    }
  }
  return asked;
}

// The name of the section that an answer belongs in, and what stands there.
std::pair<std::string, std::string> answer_to(const Asked& asked) {
  const PlanOutcome outcome = policy_named(asked.policy).make(asked.options)->plan(asked.problem);
  if (const auto* refusal = std::get_if<Refusal>(&outcome)) {
    return {"refusal", "smallest " + std::to_string(refusal->smallest_budget_bytes) + "\n" +
                           refusal->reason + "\n"};
  }
  const Plan& plan = std::get<Plan>(outcome);
  EXPECT_EQ(plan.policy, asked.policy);
  EXPECT_EQ(plan.budget_bytes, asked.problem.budget_bytes);
  for (const Violation& violation : verify(asked.problem, plan).violations) {
    ADD_FAILURE() << violation.message;
  }
  std::string text = plan::print_text(plan, asked.problem);
  for (int line = 0; line < 4; ++line) text.erase(0, text.find('\n') + 1);
  return {"plan", text};
}

class CaseFile : public testing::TestWithParam<fs::path> {};

TEST_P(CaseFile, GetsTheAnswerThatIsWrittenInIt) {
  const Sections sections = read_sections(GetParam());
  EXPECT_NE(sections.find("description"), sections.end()) << "what does this case show?";
  ASSERT_EQ(sections.count("plan") + sections.count("refusal"), 1U);
  const Asked asked = read_problem(sections);
  const bool needs_solver = asked.policy == "autotm" || asked.policy == "checkmate";
  if (needs_solver && !solve::has_milp_solver()) GTEST_SKIP() << solve::no_milp_solver();
  const auto [section, text] = answer_to(asked);
  ASSERT_TRUE(sections.contains(section)) << "the answer is\n--- " << section << "\n" << text;
  EXPECT_EQ(text, sections.at(section)) << "the answer is\n--- " << section << "\n" << text;
}

INSTANTIATE_TEST_SUITE_P(Cases, CaseFile, testing::ValuesIn(case_files()),
                         [](const auto& row) { return row.param.stem().string(); });

TEST(CaseFiles, CoverEveryPolicy) {
  std::map<std::string, int> covered;
  for (const fs::path& file : case_files()) ++covered[read_problem(read_sections(file)).policy];
  for (const PolicyInfo& row : catalogue()) EXPECT_GT(covered[row.name], 0) << row.name;
}

}  // namespace
}  // namespace lowtide
