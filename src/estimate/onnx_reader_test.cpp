// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include <string>

#include <gtest/gtest.h>

#include "estimate/onnx_graph.h"
#include "lowtide/errors.h"

namespace lowtide::estimate {
namespace {

// A field of a protocol buffer: its number and its bytes, which are fewer than 128.
std::string field(int number, const std::string& bytes) {
  return std::string{static_cast<char>(number * 8 + 2), static_cast<char>(bytes.size())} + bytes;
}
std::string field(int number, int value) {
  return {static_cast<char>(number * 8), static_cast<char>(value)};
}

// The same of any number of bytes below 2^21.
std::string long_field(int number, const std::string& bytes) {
  const std::size_t size = bytes.size();
  return std::string{static_cast<char>(number * 8 + 2), static_cast<char>(0x80 | (size & 0x7f)),
                     static_cast<char>(0x80 | ((size >> 7) & 0x7f)),
                     static_cast<char>(size >> 14)} +
         bytes;
}

std::string tensor(const std::string& name, const std::string& sizes) {
  return sizes + field(2, 1) + field(8, name);
}

std::string model(const std::string& graph, int opset) {
  return field(7, graph) + field(8, field(2, opset));
}

const std::string kNode = field(1, field(1, "x") + field(1, "w") + field(2, "y") + field(4, "Add"));

std::string message_of(const std::string& file) {
  try {
    read_onnx(file);
  } catch (const InvalidInput& error) {
    return error.what();
  }
  return "";
}

#ifdef LOWTIDE_HAS_PROTOZERO

TEST(OnnxReader, ReadsOpsWeightsAndInputs) {
  const std::string weight = field(5, tensor("w", field(1, 3) + field(1, 4)));
  // tensor_type: float, of any batch and 4.
  const std::string shape = field(2, field(1, field(2, "N")) + field(1, field(1, 4)));
  const std::string input = field(11, field(1, "x") + field(2, field(1, field(1, 1) + shape)));
  const OnnxGraph graph = read_onnx(model(kNode + weight + input, 17));
  EXPECT_EQ(graph.opset, 17);
  ASSERT_EQ(graph.nodes.size(), 1U);
  EXPECT_EQ(graph.nodes[0].op, "Add");
  EXPECT_EQ(graph.nodes[0].inputs, (std::vector<std::string>{"x", "w"}));
  ASSERT_EQ(graph.weights.size(), 1U);
  EXPECT_EQ(graph.weights[0].sizes, (std::vector<std::int64_t>{3, 4}));
  ASSERT_EQ(graph.inputs.size(), 1U);
  EXPECT_EQ(graph.inputs[0].sizes, (std::vector<std::int64_t>{-1, 4}));
  EXPECT_EQ(graph.inputs[0].symbols, (std::vector<std::string>{"N", ""}));
}

TEST(OnnxReader, ShapesAreReadAsNumbersFromRawBytes) {
  const std::string raw("\x05\0\0\0\0\0\0\0\xff\xff\xff\xff\xff\xff\xff\xff", 16);
  const std::string shape = field(5, field(1, 2) + field(2, 7) + field(8, "s") + field(9, raw));
  const OnnxGraph graph = read_onnx(model(kNode + shape, 17));
  EXPECT_EQ(graph.weights[0].integers, (std::vector<std::int64_t>{5, -1}));
}

TEST(OnnxReader, ScalesAreReadAsFractions) {
  // 1 and 2 as floats.
  const std::string raw("\0\0\x80\x3f\0\0\0\x40", 8);
  const std::string scales = field(5, field(1, 2) + field(2, 1) + field(8, "s") + field(9, raw));
  EXPECT_EQ(read_onnx(model(kNode + scales, 17)).weights[0].floats, (std::vector<float>{1, 2}));
}

TEST(OnnxReader, FractionsWithoutBytesAreNotKnown) {
  const std::string scales = field(5, field(1, 2) + field(2, 1) + field(8, "s"));
  const std::string none = field(5, field(1, 0) + field(2, 1) + field(8, "n"));
  const OnnxGraph graph = read_onnx(model(kNode + scales + none, 17));
  EXPECT_FALSE(graph.weights[0].floats.has_value());
  EXPECT_TRUE(graph.weights[1].floats->empty());
}

TEST(OnnxReader, NumbersInRowsAndColumnsAreNoShape) {
  const std::string raw("\x05\0\0\0\0\0\0\0", 8);
  const std::string table =
      field(5, field(1, 1) + field(1, 1) + field(2, 7) + field(8, "s") + field(9, raw));
  EXPECT_FALSE(read_onnx(model(kNode + table, 17)).weights[0].integers.has_value());
}

TEST(OnnxReader, AnOpOfTooManyPartsIsRefused) {
  std::string op;
  for (std::size_t i = 0; i <= kOnnxPartsOfOp; ++i) op += field(1, "");
  EXPECT_NE(message_of(long_field(7, long_field(1, op))).find("inputs, outputs"),
            std::string::npos);
}

TEST(OnnxReader, MemoryBeyondItsLimitIsRefused) {
  // A file of some thousand bytes whose ops have empty attributes, of two bytes each.
  std::string attributes;
  for (int i = 0; i < 50; ++i) attributes += field(5, "");
  std::string graph;
  for (int i = 0; i < 1000; ++i) graph += field(1, attributes);
  const std::string whole = long_field(7, graph) + field(8, field(2, 17));
  ASSERT_LT(whole.size(), 110'000U);
  EXPECT_EQ(read_onnx(whole, 100 << 20).nodes.size(), 1000U);
  const std::size_t taken = 50'000 * sizeof(OnnxAttribute);
  try {
    read_onnx(whole, taken);
    FAIL();
  } catch (const InvalidInput& error) {
    EXPECT_NE(std::string(error.what()).find("bytes of memory"), std::string::npos);
  }
}

TEST(OnnxReader, NamesCountAsMemoryToo) {
  const std::string file = model(kNode + field(2, std::string(100, 'x')), 17);
  EXPECT_NO_THROW(read_onnx(file, 1000));
  EXPECT_THROW(read_onnx(file, 500), InvalidInput);
}

TEST(OnnxReader, AFileThatWasCutOffIsRefused) {
  const std::string whole = model(kNode, 17);
  EXPECT_NE(message_of(whole.substr(0, whole.size() - 1)).find("cut off"), std::string::npos);
  EXPECT_NE(message_of("").find("empty"), std::string::npos);
  EXPECT_NE(message_of("not a model").find("not an ONNX file"), std::string::npos);
}

TEST(OnnxReader, AnUnknownOpsetIsNamed) {
  EXPECT_NE(message_of(model(kNode, 120)).find("opset 120"), std::string::npos);
}

TEST(OnnxReader, SizesBeyondTheLimitsAreRefused) {
  // 2^34 as a number of several bytes, three times: 2^102 elements.
  const std::string size = std::string("\x08\x80\x80\x80\x80\x40", 6);
  const std::string large = field(5, tensor("huge", size + size + size));
  EXPECT_NE(message_of(model(kNode + large, 17)).find("'huge'"), std::string::npos);
  std::string axes;
  for (std::size_t i = 0; i <= kOnnxAxes; ++i) axes += field(1, 1);
  EXPECT_NE(message_of(model(kNode + field(5, tensor("deep", axes)), 17)).find("axes"),
            std::string::npos);
}

#else

TEST(OnnxReader, SaysWhatToInstall) {
  EXPECT_NE(message_of(model(kNode, 17)).find("libprotozero-dev"), std::string::npos);
}

#endif

}  // namespace
}  // namespace lowtide::estimate
