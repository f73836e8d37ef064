// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "cli/inputs.h"

#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "cli/exit_code.h"
#include "cost/machine_file.h"

namespace lowtide::cli {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(Inputs, BudgetIsASizeOrAShareOfThePlainPeak) {
  EXPECT_EQ(budget_from("60%", 1000), 600);
  EXPECT_EQ(budget_from("1.5GiB", 0), 3 << 29);
  EXPECT_THROW(budget_from("-1", 0), UsageError);
  EXPECT_THROW(budget_from("", 0), UsageError);
  EXPECT_THROW(budget_from("x%", 0), UsageError);
}

TEST(Inputs, MachineComesByNameOrFromAFile) {
  std::istringstream in(cost::print_machine(machine_named("pcie4")));
  EXPECT_EQ(load_machine("unit", in).name, "unit");
  EXPECT_EQ(load_machine("-", in).name, "pcie4");
  std::istringstream bad("{}");
  EXPECT_THAT([&] { load_machine("-", bad); },
              ThrowsMessage<InvalidInput>(HasSubstr("standard input: ")));
  EXPECT_THROW(load_machine("pcie", in), UsageError);
  EXPECT_THROW(load_machine("./no/such/file.json", in), IoError);
}

TEST(Inputs, LogOfDtrIsKnownByItsLines) {
  std::istringstream in(R"({"INSTRUCTION": "CONSTANT", "NAME": "x0"}
{"INSTRUCTION": "MEMORY", "NAME": "x0", "MEMORY": "16"}
{"ARGS": ["x0"], "INSTRUCTION": "CALL", "NAME": "relu", "RESULT": ["x1"], "TIME": "5"}
{"INSTRUCTION": "MEMORY", "NAME": "x1", "MEMORY": "32"}
{"INSTRUCTION": "ALIAS", "NAME": "x1", "ALIAS": "-1"}
)");
  const std::shared_ptr<const Trace> trace = load_trace("-", in);
  EXPECT_EQ(trace->name(), "stdin");
  EXPECT_EQ(trace->ops().size(), 1U);
}

}  // namespace
}  // namespace lowtide::cli
