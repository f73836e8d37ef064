// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "estimate/onnx_axes.h"

#include <gtest/gtest.h>

#include "lowtide/errors.h"

namespace lowtide::estimate {
namespace {

using Sizes = std::vector<std::int64_t>;

// An axis is a number, "" for one of any size, or a symbol.
OnnxValueInfo value(const std::string& name, const std::vector<std::string>& axes) {
  OnnxValueInfo info{.name = name, .type = 1, .has_sizes = true, .sizes = {}, .symbols = {}};
  for (const std::string& axis : axes) {
    const bool is_number = !axis.empty() && axis.find_first_not_of("0123456789") == axis.npos;
    info.sizes.push_back(is_number ? std::stoll(axis) : -1);
    info.symbols.push_back(is_number ? "" : axis);
  }
  return info;
}

OnnxGraph graph(std::vector<OnnxValueInfo> inputs) {
  OnnxGraph made;
  made.inputs = std::move(inputs);
  return made;
}

Sizes sizes(const OnnxGraph& made, const AxisSizes& asked, std::size_t input = 0) {
  return ValueSizes(made, /*batch=*/32, asked).of_input(made.inputs[input]);
}

TEST(OnnxAxes, TheBatchIsTheSymbolThatIsCalledSo) {
  const std::string cases[] = {"batch", "Batch_Size", "N", "bs", "unk_batch"};
  for (const std::string& name : cases) {
    const OnnxGraph time_first = graph({value("x", {"seq", name, "16"})});
    EXPECT_EQ(open_axes_of(time_first).batch, name);
    EXPECT_EQ(open_axes_of(time_first).others, std::vector<std::string>{"seq"});
    EXPECT_EQ(sizes(time_first, {.named = {{"seq", 5}}}), (Sizes{5, 32, 16}));
  }
}

TEST(OnnxAxes, ElseItIsTheFirstAxis) {
  const OnnxGraph named = graph({value("x", {"s0", "3", "s1"})});
  EXPECT_EQ(open_axes_of(named).batch, "s0");
  EXPECT_EQ(sizes(named, {.named = {{"s1", 7}}}), (Sizes{32, 3, 7}));
  const OnnxGraph numbered = graph({value("x", {"1", "3"}), value("y", {"", "4"})});
  EXPECT_EQ(open_axes_of(numbered).batch, "");
  EXPECT_EQ(open_axes_of(numbered).file_batch, 1);
  EXPECT_EQ(sizes(numbered, {}), (Sizes{32, 3}));
  EXPECT_EQ(sizes(numbered, {}, 1), (Sizes{32, 4}));
}

TEST(OnnxAxes, WhatHasASizeKeepsItWhereTheBatchHasASymbol) {
  const OnnxGraph both = graph({value("x", {"batch", "3"}), value("table", {"77", "batch"})});
  EXPECT_EQ(sizes(both, {}, 1), (Sizes{77, 32}));
}

TEST(OnnxAxes, AxesOfOneSymbolAreAsLongAsEachOther) {
  const OnnxGraph both = graph({value("x", {"n", "a", "b2"}), value("y", {"b2", "a", "n", ""})});
  const AxisSizes asked = {.named = {{"a", 5}, {"b2", 6}}, .others = 7};
  EXPECT_EQ(sizes(both, asked), (Sizes{32, 5, 6}));
  EXPECT_EQ(sizes(both, asked, 1), (Sizes{6, 5, 32, 7}));
}

TEST(OnnxAxes, AnAxisThatNobodyHasToldIsNamed) {
  const auto message_of = [](const OnnxGraph& made) -> std::string {
    try {
      sizes(made, {});
    } catch (const InvalidInput& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(message_of(graph({value("x", {"batch", "seq"})})).find("--axis seq=SIZE"),
            std::string::npos);
  EXPECT_NE(message_of(graph({value("x", {"batch", ""})})).find("--size"), std::string::npos);
}

TEST(OnnxAxes, WeightsAmongTheInputsAreNoInputs) {
  OnnxGraph old = graph({value("w", {"batch", "3"}), value("x", {"T", "3"})});
  old.weights.emplace_back();
  old.weights[0].name = "w";
  EXPECT_EQ(open_axes_of(old).batch, "T");
}

TEST(OnnxAxes, ValuesWithOpenAxesAreNotKnown) {
  const OnnxGraph made = graph({value("x", {"2", "3"})});
  const ValueSizes known(made, 32, {});
  EXPECT_EQ(known.of_value(value("y", {"2", "8"})), (Sizes{32, 8}));
  EXPECT_EQ(known.of_value(value("y", {"", "8"})), (Sizes{32, 8}));
  EXPECT_FALSE(known.of_value(value("y", {"2", "2*s0"})).has_value());
}

}  // namespace
}  // namespace lowtide::estimate
