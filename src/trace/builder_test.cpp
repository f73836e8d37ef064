// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lowtide/errors.h"
#include "lowtide/trace.h"

namespace lowtide {
namespace {

using testing::HasSubstr;

Storage storage(std::string name, bool at_start = false, bool at_end = false) {
  Storage result;
  result.name = std::move(name);
  result.bytes = 4;
  result.at_start = at_start;
  result.at_end = at_end;
  return result;
}

template <class Function>
std::string error_of(Function function) {
  try {
    function();
  } catch (const InvalidInput& error) {
    return error.what();
  }
  return "no error";
}

TEST(TraceBuilder, GivesEveryWriteTheNextVersion) {
  TraceBuilder builder("t");
  const StorageId source = builder.add_storage(storage("source", true, true));
  const StorageId made = builder.add_storage(storage("made"));
  builder.add_op({.name = "make", .reads = {{source}}, .writes = {{made}}});
  builder.add_op({.name = "add_", .reads = {{made}}, .writes = {{made}, {source}}});
  const Trace trace = builder.build();

  ASSERT_EQ(trace.versions(source).size(), 2U);
  ASSERT_EQ(trace.versions(made).size(), 2U);
  EXPECT_TRUE(trace.value(trace.versions(source)[0]).is_source());
  EXPECT_EQ(trace.value(trace.versions(source)[1]).producer, OpId{1});
  EXPECT_EQ(trace.value(trace.versions(made)[0]).producer, OpId{0});
  EXPECT_EQ(trace.value_name(trace.versions(made)[1]), "made.1");
  EXPECT_EQ(trace.ops()[1].reads[0].value, trace.versions(made)[0]);
  EXPECT_EQ(trace.ops()[1].writes[0].value, trace.versions(made)[1]);
  EXPECT_FALSE(trace.ops()[0].in_place);
  EXPECT_TRUE(trace.ops()[1].in_place);
}

TEST(TraceBuilder, PutsSideEffectsAfterOtherUses) {
  TraceBuilder builder("t");
  const StorageId stats = builder.add_storage(storage("stats", true, true));
  const StorageId input = builder.add_storage(storage("input", true));
  const StorageId output = builder.add_storage(storage("output"));
  builder.add_op(
      {.name = "norm", .reads = {{stats, true}, {input}}, .writes = {{stats, true}, {output}}});
  const Trace trace = builder.build();
  const Op& op = trace.ops()[0];
  EXPECT_EQ(trace.value_name(op.reads[0].value), "input.0");
  EXPECT_TRUE(op.reads[1].side_effect);
  EXPECT_EQ(trace.value_name(op.writes[0].value), "output.0");
  EXPECT_TRUE(op.writes[1].side_effect);
}

TEST(TraceBuilder, NumbersValuesTheSameWhereverStoragesAreAdded) {
  TraceBuilder builder("t");
  const StorageId made = builder.add_storage(storage("made"));
  builder.add_op({.name = "make", .writes = {{made}}});
  const StorageId late = builder.add_storage(storage("late", true));
  builder.add_op({.name = "use", .reads = {{late}, {made}}, .writes = {{made}}});
  const Trace trace = builder.build();
  EXPECT_THAT(trace.versions(late), testing::ElementsAre(ValueId{0}));
  EXPECT_THAT(trace.versions(made), testing::ElementsAre(ValueId{1}, ValueId{2}));
  EXPECT_EQ(trace.ops()[0].writes[0].value, ValueId{1});
  EXPECT_EQ(trace.ops()[1].reads[0].value, ValueId{0});
  EXPECT_EQ(trace.ops()[1].reads[1].value, ValueId{1});
  EXPECT_EQ(trace.ops()[1].writes[0].value, ValueId{2});
  EXPECT_EQ(trace.value_name(ValueId{0}), "late.0");
  EXPECT_EQ(trace.value(ValueId{2}).producer, OpId{1});
}

TEST(TraceBuilder, ReleasesAfterTheLastUseUnlessToldOtherwise) {
  TraceBuilder builder("t");
  const StorageId read = builder.add_storage(storage("read"));
  const StorageId viewed = builder.add_storage(storage("viewed"));
  const StorageId freed = builder.add_storage(storage("freed"));
  const StorageId kept = builder.add_storage(storage("kept", false, true));
  const StorageId unused = builder.add_storage(storage("unused", true));
  builder.add_op({.name = "make", .writes = {{read}, {viewed}, {freed}, {kept}}});
  builder.add_op({.name = "read", .reads = {{read}}});
  builder.add_op({.name = "view", .views = {viewed}});
  builder.add_op({.name = "last", .frees = {freed}});
  const Trace trace = builder.build();
  EXPECT_EQ(trace.storage(read).freed_after, OpId{1});
  EXPECT_EQ(trace.storage(viewed).freed_after, OpId{2});
  EXPECT_EQ(trace.storage(freed).freed_after, OpId{3});
  EXPECT_FALSE(trace.storage(kept).freed_after.valid());
  EXPECT_EQ(trace.storage(unused).freed_after, OpId{0});
}

TEST(TraceBuilder, KeepsASourceOfAStepWithoutOpsToItsEnd) {
  TraceBuilder builder("t");
  const StorageId source = builder.add_storage(storage("source", true));
  const Trace trace = builder.build();
  EXPECT_TRUE(trace.storage(source).at_end);
  EXPECT_FALSE(trace.storage(source).freed_after.valid());
}

TEST(TraceBuilder, IgnoresAReleaseThatAStorageBringsAlong) {
  TraceBuilder builder("t");
  Storage odd = storage("odd", true, true);
  odd.freed_after = OpId{77};
  const StorageId id = builder.add_storage(odd);
  EXPECT_FALSE(builder.build().storage(id).freed_after.valid());
}

TEST(TraceBuilder, NamesTheOpAndTheStorageOfAFault) {
  const StorageId none{9};
  const auto with = [](Storage s, const std::vector<OpSpec>& specs) {
    return error_of([&] {
      TraceBuilder builder("t");
      builder.add_storage(s);
      for (const OpSpec& spec : specs) builder.add_op(spec);
      builder.build();
    });
  };
  const StorageId first{0};
  const std::pair<std::string, const char*> cases[] = {
      {with(storage("a", true), {{.name = "f", .reads = {{none}}}}), "op f names a storage"},
      {with(storage("a", true), {{.name = "f", .views = {StorageId{}}}}), "op f names a storage"},
      {with(storage("a", true), {{.name = "f", .frees = {none}}}), "op f names a storage"},
      {with(storage("a", true), {{.name = "f", .frees = {first, first}}}),
       "op f uses storage a after it was freed"},
      {with(storage("a", true), {{.name = "f", .frees = {first}}, {.name = "g", .views = {first}}}),
       "op g uses storage a after it was freed"},
      {with(storage("a"), {{.name = "f", .reads = {{first}}}}),
       "op f reads storage a before anything was written there"},
      {with(storage("a"), {{.name = "f", .frees = {first}}}),
       "op f frees storage a before anything was written there"},
      {with(storage("a", true, true), {{.name = "f", .frees = {first}}}),
       "op f frees storage a, which is said to exist at the end"},
      {with(storage("a"), {}), "storage a is never written"},
      {with(storage("a", true), {{.name = "no name"}}), "not a valid op name: 'no name'"},
      {with(storage("", true), {}), "not a valid storage name: ''"},
      {error_of([] { TraceBuilder("two words"); }), "not a valid trace name"},
  };
  for (const auto& [found, message] : cases) EXPECT_THAT(found, HasSubstr(message));
}

TEST(TraceBuilder, RefusesSizesWhoseSumWouldOverflow) {
  const std::string message = error_of([] {
    TraceBuilder builder("t");
    for (int i = 0; i < 2000; ++i) {
      Storage large = storage("s" + std::to_string(i), true);
      large.bytes = std::int64_t{1} << 50;
      builder.add_storage(large);
    }
    builder.build();
  });
  EXPECT_THAT(message, HasSubstr("too large together"));
}

}  // namespace
}  // namespace lowtide
