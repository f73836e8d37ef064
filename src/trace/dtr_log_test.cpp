// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "trace/dtr_log.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lowtide/errors.h"
#include "trace/text.h"

namespace lowtide::trace {
namespace {

using testing::HasSubstr;

// The records of a log, as the prototype writes them.
std::string constant(const std::string& name, int bytes) {
  return R"({"INSTRUCTION":"CONSTANT","NAME":")" + name + "\"}\n" +
         R"({"INSTRUCTION":"MEMORY","MEMORY":")" + std::to_string(bytes) + R"(","NAME":")" + name +
         "\"}\n";
}

std::string call(const std::string& name, const std::string& arguments, const std::string& results,
                 const std::string& time = "1000000000") {
  return R"({"ARGS":[)" + arguments + R"(],"INSTRUCTION":"CALL","NAME":")" + name +
         R"(","RESULT":[)" + results + R"(],"TIME":")" + time + "\"}\n";
}

std::string result(const std::string& name, int bytes, int alias = -1) {
  return R"({"INSTRUCTION":"MEMORY","MEMORY":")" + std::to_string(bytes) + R"(","NAME":")" + name +
         "\"}\n" + R"({"ALIAS":")" + std::to_string(alias) + R"(","INSTRUCTION":"ALIAS","NAME":")" +
         name + "\"}\n";
}

std::string mutate(const std::string& name, const std::string& arguments,
                   const std::string& indices) {
  return R"({"ARGS":[)" + arguments + R"(],"INSTRUCTION":"MUTATE","MUTATE":[)" + indices +
         R"(],"NAME":")" + name + R"(","TIME":"2000000000"})" + "\n";
}

std::string copy(const std::string& target, const std::string& source,
                 const std::string& kind = "COPY") {
  return R"({"DST":")" + target + R"(","INSTRUCTION":")" + kind + R"(","SRC":")" + source + "\"}\n";
}

std::string release(const std::string& name) {
  return R"({"INSTRUCTION":"RELEASE","NAME":")" + name + "\"}\n";
}

std::string annotate(const std::string& what) {
  return R"({"ANNOTATION":")" + what + R"(","INSTRUCTION":"ANNOTATE"})" + "\n";
}

std::string imported(const std::string& log) {
  const std::string text = print_text(import_dtr_log(log, "log"));
  return text.substr(text.find("name log\n") + 9);
}

TEST(DtrLog, MakesSourcesOfConstantsAndOpsOfCalls) {
  const std::string log = annotate("START") + constant("w", 8) + constant("x", 4) +
                          call("conv2d", R"("x","w")", R"("y")", "1500") + result("y", 16) +
                          release("x") + release("y");
  EXPECT_EQ(imported(log),
            "storage w 8 parameter start end\n"
            "storage x 4 input start\n"
            "storage y 16 temporary\n"
            "op conv2d forward device=1.5e-06 : x w -> y\n");
}

TEST(DtrLog, FreesAStorageWhenTheLastNameOverItGoes) {
  // y has three names: itself, a copy and a view. The last goes after op c.
  const std::string log = constant("x", 4) + call("a", R"("x")", R"("y")") + result("y", 2) +
                          copy("y2", "y") + release("y") + call("view", R"("y2")", R"("v")") +
                          result("v", 2, 0) + release("y2") + call("c", R"("x")", R"("z")") +
                          result("z", 1) + release("v") + call("d", R"("x")", R"("u")") +
                          result("u", 1);
  EXPECT_EQ(imported(log),
            "storage x 4 parameter start end\n"
            "storage y 2 temporary\n"
            "storage z 1 temporary end\n"
            "storage u 1 temporary end\n"
            "op a forward device=1 : x -> y\n"
            "op view forward device=1 : -> | y\n"
            "op c forward device=1 : x -> z free y\n"
            "op d forward device=1 : x -> u\n");
}

TEST(DtrLog, MakesAnInPlaceWriteOfAMutationAlsoThroughAView) {
  const std::string log = constant("x", 4) + call("a", R"("x")", R"("y")") + result("y", 2) +
                          call("view", R"("y")", R"("v")") + result("v", 2, 0) +
                          mutate("add_", R"("v","x","v")", "0, 2");
  const Trace trace = import_dtr_log(log, "log");
  const Op& add = trace.ops().at(2);
  EXPECT_TRUE(add.in_place);
  EXPECT_EQ(add.device_seconds, 2.0);
  ASSERT_EQ(add.reads.size(), 2U);
  EXPECT_EQ(trace.value_name(add.reads[0].value), "y.0");
  EXPECT_EQ(trace.value_name(add.reads[1].value), "x.0");
  ASSERT_EQ(add.writes.size(), 1U);
  EXPECT_EQ(trace.value_name(add.writes[0].value), "y.1");
}

TEST(DtrLog, ReadsWhatACallViewsOnlyIfItAlsoMakesSomething) {
  const std::string log = constant("x", 4) + constant("s", 1) +
                          call("both", R"("x","x","s")", R"("v","y")") + result("v", 4, 0) +
                          result("y", 2) + call("index", R"("x","s")", R"("u")") +
                          result("u", 4, 0);
  EXPECT_EQ(imported(log),
            "storage x 4 parameter start end\n"
            "storage s 1 parameter start end\n"
            "storage y 2 temporary end\n"
            "op both forward device=1 : x s -> y | x\n"
            "op index forward device=1 : s -> | x\n");
}

TEST(DtrLog, LetsACopyFromReplaceWhatANameStandsFor) {
  for (const char* kind : {"COPY_FROM", "COPYFROM"}) {
    const std::string log = constant("w", 4) + call("clone", R"("w")", R"("n")") + result("n", 4) +
                            copy("w", "n", kind) + release("n") + call("use", R"("w")", R"("z")") +
                            result("z", 1) + release("z");
    EXPECT_EQ(imported(log),
              "storage w 4 input start\n"
              "storage n 4 temporary end\n"
              "storage z 1 temporary\n"
              "op clone forward device=1 : w -> n\n"
              "op use forward device=1 : n -> z\n");
  }
}

TEST(DtrLog, TakesPhasesAndKindsFromTheAnnotation) {
  // With an annotation the name of an op does not count.
  const std::string log = constant("x", 4) + call("pool_backward", R"("x")", R"("y","t")") +
                          result("y", 2) + result("t", 3) + annotate("BACKWARD") +
                          call("grad", R"("y")", R"("g","h")") + result("g", 4) + result("h", 5) +
                          release("y") + release("t") + release("h");
  EXPECT_EQ(imported(log),
            "storage x 4 parameter start end\n"
            "storage y 2 activation\n"
            "storage t 3 temporary\n"
            "storage g 4 gradient end\n"
            "storage h 5 temporary\n"
            "op pool_backward forward device=1 : x -> y t\n"
            "op grad backward device=1 : y -> g h free t\n");
}

TEST(DtrLog, TakesPhasesFromNamesWhereNothingIsAnnotated) {
  const std::string log = constant("x", 4) + call("relu", R"("x")", R"("y")") + result("y", 2) +
                          call("relu_backward", R"("y")", R"("g")") + result("g", 4) +
                          call("mul", R"("g")", R"("h")") + result("h", 4);
  const Trace trace = import_dtr_log(log, "log");
  EXPECT_EQ(trace.ops().at(0).phase, Phase::kForward);
  EXPECT_EQ(trace.ops().at(1).phase, Phase::kBackward);
  EXPECT_EQ(trace.ops().at(2).phase, Phase::kBackward);
  EXPECT_EQ(trace.storages().at(1).kind, StorageKind::kActivation);
}

TEST(DtrLog, LeavesOutWhatStandsBeforeTheStart) {
  const std::string log = constant("old", 4) + call("f", R"("old")", R"("y")") + result("y", 2) +
                          annotate("START") + constant("x", 1);
  EXPECT_EQ(imported(log), "storage x 1 parameter start end\n");
}

TEST(DtrLog, LetsAConstantThatGoesBeforeTheFirstOpDieWithIt) {
  const std::string log = constant("x", 4) + release("x") + release("x") + release("unknown") +
                          constant("s", 1) + call("f", R"("s")", "");
  const Trace trace = import_dtr_log(log, "log");
  EXPECT_EQ(trace.storages().at(0).freed_after, OpId{0});
  EXPECT_EQ(trace.storages().at(0).kind, StorageKind::kInput);
  EXPECT_TRUE(trace.ops().at(0).writes.empty());
}

TEST(DtrLog, CleansNamesOfOpsAndMarksThoseThatDrawNumbers) {
  const std::pair<const char*, const char*> cases[] = {
      {"aten::add", "aten__add"}, {"free", "_free"},        {"", "_"},
      {"-x y", "_-x_y"},          {"mean.dim", "mean.dim"},
  };
  for (const auto& [logged, cleaned] : cases) {
    EXPECT_EQ(import_dtr_log(call(logged, "", ""), "log").ops().at(0).name, cleaned);
  }
  EXPECT_TRUE(import_dtr_log(call("_fused_droupout_", "", ""), "log").ops().at(0).random);
  EXPECT_FALSE(import_dtr_log(call("dropout_backward", "", ""), "log").ops().at(0).random);
  EXPECT_FALSE(import_dtr_log(call("mm", "", ""), "log").ops().at(0).random);
}

TEST(DtrLog, NamesTheLineAndTheFault) {
  const std::string x = constant("x", 4);  // lines 1 and 2
  const std::pair<std::string, const char*> cases[] = {
      {"nonsense", "line 1: not valid JSON"},
      {"\n\n[1]", "line 3: record: expected an object"},
      {R"({"NAME":"x"})", "line 1: record.INSTRUCTION: expected this field"},
      {R"({"INSTRUCTION":"JUMP"})", "line 1: unknown instruction 'JUMP'"},
      {R"({"INSTRUCTION":"CONSTANT","NAME":"x"})", "the log ends where MEMORY of x should follow"},
      {R"({"INSTRUCTION":"CONSTANT","NAME":"x"})" + ("\n" + release("x")),
       "line 2: expected MEMORY of x"},
      {x + x, "line 4: tensor x is made twice"},
      {x + release("x") + x, "line 5: tensor x is made twice"},
      {x + copy("y", "z"), "line 3: tensor z was never made"},
      {x + release("x") + copy("y", "x"), "line 4: tensor x is used after its release"},
      {x + copy("y", "x", "COPY_FROM"), "line 3: tensor y was never made"},
      {x + call("f", R"("z")", ""), "line 3: tensor z was never made"},
      {x + call("f", R"("x")", R"("y")"), "the log ends where MEMORY of y should follow"},
      {x + call("f", R"("x")", R"("y")") + result("z", 1), "line 4: expected MEMORY of y"},
      {x + call("f", R"("x")", R"("y")") + result("y", 1, 1), "line 5: no argument 1 of 1"},
      {x + call("f", R"("x")", R"("y")") + result("y", 1, -2), "line 5: no argument -2 of 1"},
      {x + call("f", R"("x")", "", "soon"), "line 3: record.TIME: expected a whole number"},
      {x + call("f", "1", ""), "line 3: record.ARGS: expected a list of strings"},
      {x + mutate("f", R"("x")", "1"), "line 3: no argument 1 of 1"},
      {x + call("f", R"("x")", "", "-1"), "time out of range for op f"},
      {constant("x", -1), "size out of range for storage x"},
      {constant("a b", 1), "not a valid storage name: 'a b'"},
  };
  for (const auto& [log, message] : cases) {
    try {
      import_dtr_log(log, "log");
      ADD_FAILURE() << "accepted: " << log;
    } catch (const InvalidInput& error) {
      EXPECT_THAT(error.what(), HasSubstr(message));
    }
  }
}

}  // namespace
}  // namespace lowtide::trace
