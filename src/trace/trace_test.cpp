// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "lowtide/trace.h"

#include <gtest/gtest.h>

#include "trace/lifetimes.h"
#include "trace/names.h"
#include "trace/text.h"

namespace lowtide {
namespace {

TEST(Phase, HasANameThatReadsBack) {
  for (const char* name : {"forward", "backward", "optimizer", "other"}) {
    const std::optional<Phase> phase = phase_from(name);
    ASSERT_TRUE(phase) << name;
    EXPECT_EQ(to_string(*phase), name);
  }
  EXPECT_FALSE(phase_from("Forward"));
  EXPECT_FALSE(phase_from(""));
}

TEST(StorageKind, HasANameThatReadsBack) {
  for (const char* name :
       {"parameter", "gradient", "state", "input", "activation", "temporary", "workspace"}) {
    const std::optional<StorageKind> kind = storage_kind_from(name);
    ASSERT_TRUE(kind) << name;
    EXPECT_EQ(to_string(*kind), name);
  }
  EXPECT_FALSE(storage_kind_from("param"));
}

TEST(Trace, NamesValuesAndOps) {
  const Trace trace = trace::parse_text(
      "lowtide-trace 1\nname t\nstorage a.1 4 state start end\nop add_ forward : a.1 -> a.1\n");
  EXPECT_EQ(trace.value_name(ValueId{1}), "a.1.1");
  EXPECT_EQ(trace.value_name(ValueId{2}), "no value");
  EXPECT_EQ(trace.value_name(ValueId{}), "no value");
  EXPECT_EQ(trace.op_name(OpId{0}), "add_ (op 0)");
  EXPECT_EQ(trace.op_name(trace.end()), "end of step");
  EXPECT_EQ(trace.op_name(OpId{2}), "no op");
  EXPECT_EQ(trace.op_name(OpId{}), "no op");
}

TEST(Trace, TellsOfAnOpWithoutTheWholeOp) {
  const Trace trace = trace::parse_text(
      "lowtide-trace 1\nname t\nstorage a 4 state start end\nstorage b 4 activation\n"
      "op f forward : a -> b\nop g forward once : b a -> a\n");
  for (std::size_t i = 0; i < trace.ops().size(); ++i) {
    const Op& op = trace.ops()[i];
    const auto id = make_id<OpId>(i);
    EXPECT_EQ(trace.reads(id).data(), op.reads.data());
    EXPECT_EQ(trace.writes(id).size(), op.writes.size());
    EXPECT_EQ(trace.is_replayable(id), op.replayable);
  }
  EXPECT_FALSE(trace.is_replayable(OpId{1}));
  EXPECT_EQ(trace.lifetimes()->of(ValueId{0}).dies, 1);
}

TEST(OptionalSeconds, AreKnownOrNot) {
  const OptionalSeconds unknown;
  EXPECT_FALSE(unknown);
  EXPECT_FALSE(unknown == 0.0);
  EXPECT_EQ(unknown.value_or(3), 3);
  EXPECT_EQ(unknown.as_optional(), std::nullopt);
  const OptionalSeconds none(0.0);
  EXPECT_TRUE(none);
  EXPECT_EQ(none, 0.0);
  EXPECT_EQ(none.value_or(3), 0);
}

TEST(Names, AreSingleWordsWithoutCharactersThatMeanSomething) {
  for (const char* name : {"a", "layer1.0/conv[2]", "_x", "a-b", "freed", "0"}) {
    EXPECT_TRUE(trace::is_name(name)) << name;
  }
  for (const char* name : {"", "a b", "a\tb", "a:b", "a|b", "~a", "a#", "a=b", "a\"b", "-a", "->",
                           "free", "\xc3\xa9", "a\x7f"}) {
    EXPECT_FALSE(trace::is_name(name)) << name;
  }
}

}  // namespace
}  // namespace lowtide
