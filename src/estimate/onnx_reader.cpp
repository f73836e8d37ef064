// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <cstring>

#include "base/check.h"
#include "estimate/onnx_graph.h"

#ifdef LOWTIDE_HAS_PROTOZERO
namespace lowtide::estimate {

// A field of another sort than it should be is the file's fault and not the program's.
static void require_field(bool is_right) {
  LT_REQUIRE(is_right, "not an ONNX file: a field is of another sort than it should be");
}

}  // namespace lowtide::estimate

#define protozero_assert(condition) ::lowtide::estimate::require_field(condition)
#include <protozero/pbf_reader.hpp>
#endif

namespace lowtide::estimate {

#ifdef LOWTIDE_HAS_PROTOZERO
namespace {

using protozero::pbf_reader;

// The opsets whose operators were looked at.
constexpr std::int64_t kFirstOpset = 3, kLastOpset = 26;
constexpr std::int32_t kFloat = 1, kInt32 = 6, kInt64 = 7;
// Longer rows of numbers are no shapes.
constexpr std::size_t kMostIntegers = 64;

// What the graph may still take of memory. A file of a few bytes an object would else take a
// hundred times its size.
class Allowance {
 public:
  explicit Allowance(std::size_t bytes) : bytes_(bytes), left_(bytes) {}

  void take(std::size_t bytes) {
    LT_REQUIRE(bytes <= left_, "the graph takes more than ", bytes_, " bytes of memory");
    left_ -= bytes;
  }
  // Adds to a row, which may have room for as many again.
  template <class T>
  void add(std::vector<T>& row, T item) {
    take(2 * sizeof(T));
    row.push_back(std::move(item));
  }
  std::string text(pbf_reader& message) {
    const protozero::data_view view = message.get_view();
    take(view.size());
    return {view.data(), view.size()};
  }

 private:
  const std::size_t bytes_;
  std::size_t left_;
};

void add_size(std::vector<std::int64_t>& sizes, std::int64_t size) {
  LT_REQUIRE(sizes.size() < kOnnxAxes, "a tensor has more than ", kOnnxAxes, " axes");
  sizes.push_back(size);
}

// Numbers of a field that is packed or not, both of which are allowed.
template <class Add>
void read_integers(pbf_reader& message, const Add& add) {
  if (message.wire_type() == protozero::pbf_wire_type::length_delimited) {
    for (const std::int64_t number : message.get_packed_int64()) add(number);
  } else {
    add(message.get_int64());
  }
}

// Throws unless the product of the sizes is a number of elements that could be.
std::int64_t elements_of(const OnnxTensor& tensor) {
  std::int64_t elements = 1;
  for (const std::int64_t size : tensor.sizes) {
    LT_REQUIRE(size >= 0 && size <= kOnnxElements, "the tensor '", tensor.name,
               "' has an axis of size ", size);
    LT_REQUIRE(size == 0 || elements <= kOnnxElements / size, "the tensor '", tensor.name,
               "' has more than ", kOnnxElements, " elements");
    elements *= size;
  }
  return elements;
}

std::vector<std::int64_t> raw_integers(std::string_view raw, std::int32_t type) {
  const std::size_t width = type == kInt64 ? sizeof(std::int64_t) : sizeof(std::int32_t);
  std::vector<std::int64_t> integers;
  for (std::size_t at = 0; at + width <= raw.size(); at += width) {
    std::int64_t wide = 0;
    std::int32_t narrow = 0;
    std::memcpy(type == kInt64 ? static_cast<void*>(&wide) : static_cast<void*>(&narrow),
                raw.data() + at, width);
    integers.push_back(type == kInt64 ? wide : narrow);
  }
  return integers;
}

std::vector<float> raw_floats(std::string_view raw) {
  std::vector<float> floats(raw.size() / sizeof(float));
  if (!raw.empty()) std::memcpy(floats.data(), raw.data(), floats.size() * sizeof(float));
  return floats;
}

void read_floats(pbf_reader& message, std::vector<float>& floats) {
  const auto keep = [&](float number) {
    if (floats.size() <= kMostIntegers) floats.push_back(number);
  };
  if (message.wire_type() == protozero::pbf_wire_type::length_delimited) {
    for (const float number : message.get_packed_float()) keep(number);
  } else {
    keep(message.get_float());
  }
}

// The numbers of a short row, from whichever field has them.
void keep_numbers(OnnxTensor& tensor, std::vector<std::int64_t> integers, std::vector<float> floats,
                  std::string_view raw) {
  const std::int64_t elements = elements_of(tensor);
  if (tensor.sizes.size() > 1 || elements > static_cast<std::int64_t>(kMostIntegers)) return;
  const auto count = static_cast<std::size_t>(elements);
  if (tensor.type == kFloat) {
    if (floats.empty() && raw.size() == count * sizeof(float)) floats = raw_floats(raw);
    if (floats.size() == count) tensor.floats = std::move(floats);
  } else if (tensor.type == kInt32 || tensor.type == kInt64) {
    if (integers.empty() && raw.size() <= kMostIntegers * sizeof(std::int64_t)) {
      integers = raw_integers(raw, tensor.type);
    }
    if (integers.size() == count) tensor.integers = std::move(integers);
  }
}

OnnxTensor read_tensor(pbf_reader message, Allowance& left) {
  OnnxTensor tensor;
  std::vector<std::int64_t> integers;
  std::vector<float> floats;
  std::string_view raw;
  const auto keep = [&](std::int64_t number) {
    if (integers.size() <= kMostIntegers) integers.push_back(number);
  };
  while (message.next()) {
    switch (message.tag()) {
      case 1:
        read_integers(message, [&](std::int64_t n) { add_size(tensor.sizes, n); });
        break;
      case 2:
        tensor.type = message.get_int32();
        break;
      case 4:
        read_floats(message, floats);
        break;
      case 5:  // Both are written as whole numbers of any width.
      case 7:
        read_integers(message, keep);
        break;
      case 8:
        tensor.name = left.text(message);
        break;
      case 9: {
        const protozero::data_view view = message.get_view();
        raw = {view.data(), view.size()};
        break;
      }
      default:
        message.skip();
    }
  }
  keep_numbers(tensor, std::move(integers), std::move(floats), raw);
  left.take(tensor.sizes.size() * sizeof(std::int64_t));
  if (tensor.integers) left.take(tensor.integers->size() * sizeof(std::int64_t));
  if (tensor.floats) left.take(tensor.floats->size() * sizeof(float));
  return tensor;
}

void read_axis(pbf_reader message, OnnxValueInfo& info, Allowance& left) {
  std::int64_t size = -1;
  std::string symbol;
  while (message.next()) {
    if (message.tag() == 1) {
      size = message.get_int64();
    } else if (message.tag() == 2) {
      symbol = left.text(message);
    } else {
      message.skip();
    }
  }
  LT_REQUIRE(size >= -1 && size <= kOnnxElements, "a value has an axis of size ", size);
  left.take(2 * (sizeof(size) + sizeof(symbol)));
  // Some exporters write 0 for a batch of any size.
  add_size(info.sizes, size == 0 ? -1 : size);
  info.symbols.push_back(std::move(symbol));
}

void read_tensor_type(pbf_reader message, OnnxValueInfo& info, Allowance& left) {
  while (message.next()) {
    if (message.tag() == 1) {
      info.type = message.get_int32();
    } else if (message.tag() == 2) {
      info.has_sizes = true;
      pbf_reader shape = message.get_message();
      while (shape.next()) {
        if (shape.tag() == 1) {
          read_axis(shape.get_message(), info, left);
        } else {
          shape.skip();
        }
      }
    } else {
      message.skip();
    }
  }
}

OnnxValueInfo read_value_info(pbf_reader message, Allowance& left) {
  OnnxValueInfo info;
  while (message.next()) {
    if (message.tag() == 1) {
      info.name = left.text(message);
    } else if (message.tag() == 2) {
      pbf_reader type = message.get_message();
      while (type.next()) {
        if (type.tag() == 1) {
          read_tensor_type(type.get_message(), info, left);
        } else {
          type.skip();
        }
      }
    } else {
      message.skip();
    }
  }
  return info;
}

OnnxAttribute read_attribute(pbf_reader message, Allowance& left) {
  OnnxAttribute attribute;
  while (message.next()) {
    switch (message.tag()) {
      case 1:
        attribute.name = left.text(message);
        break;
      case 2:
        attribute.number = message.get_float();
        break;
      case 3:
        attribute.integer = message.get_int64();
        break;
      case 4:
        attribute.text = left.text(message);
        break;
      case 5:
        attribute.tensor = read_tensor(message.get_message(), left);
        break;
      case 7:
        read_floats(message, attribute.numbers);
        break;
      case 8:
        read_integers(message, [&](std::int64_t n) {
          LT_REQUIRE(attribute.integers.size() < kMostIntegers * kMostIntegers, "the attribute '",
                     attribute.name, "' is too long");
          left.add(attribute.integers, n);
        });
        break;
      default:  // Among it the graphs of branches and loops, which are not known, at any depth.
        message.skip();
    }
  }
  left.take(attribute.numbers.size() * sizeof(float));
  return attribute;
}

std::size_t parts_of(const OnnxNode& node) {
  return node.inputs.size() + node.outputs.size() + node.attributes.size();
}

OnnxNode read_node(pbf_reader message, Allowance& left) {
  OnnxNode node;
  while (message.next()) {
    LT_REQUIRE(parts_of(node) < kOnnxPartsOfOp, "an op has more than ", kOnnxPartsOfOp,
               " inputs, outputs and attributes");
    switch (message.tag()) {
      case 1:
        left.add(node.inputs, left.text(message));
        break;
      case 2:
        left.add(node.outputs, left.text(message));
        break;
      case 3:
        node.name = left.text(message);
        break;
      case 4:
        node.op = left.text(message);
        break;
      case 5:
        left.add(node.attributes, read_attribute(message.get_message(), left));
        break;
      case 7:
        node.domain = left.text(message);
        break;
      default:
        message.skip();
    }
  }
  if (node.domain == "ai.onnx") node.domain.clear();
  return node;
}

void read_graph(pbf_reader message, OnnxGraph& graph, Allowance& left) {
  while (message.next()) {
    switch (message.tag()) {
      case 1:
        left.add(graph.nodes, read_node(message.get_message(), left));
        break;
      case 2:
        graph.name = left.text(message);
        break;
      case 5:
        left.add(graph.weights, read_tensor(message.get_message(), left));
        break;
      case 11:
        left.add(graph.inputs, read_value_info(message.get_message(), left));
        break;
      case 12:
        left.add(graph.outputs, read_value_info(message.get_message(), left));
        break;
      case 13:
        left.add(graph.others, read_value_info(message.get_message(), left));
        break;
      default:
        message.skip();
    }
  }
}

void read_opset(pbf_reader message, OnnxGraph& graph) {
  std::string domain;
  std::int64_t version = 0;
  while (message.next()) {
    if (message.tag() == 1) {
      domain = message.get_string();
    } else if (message.tag() == 2) {
      version = message.get_int64();
    } else {
      message.skip();
    }
  }
  if (domain.empty() || domain == "ai.onnx") graph.opset = version;
}

OnnxGraph read_model(pbf_reader message, std::size_t graph_bytes) {
  OnnxGraph graph;
  Allowance left(graph_bytes);
  while (message.next()) {
    if (message.tag() == 7) {
      read_graph(message.get_message(), graph, left);
    } else if (message.tag() == 8) {
      read_opset(message.get_message(), graph);
    } else {
      message.skip();
    }
  }
  return graph;
}

}  // namespace

OnnxGraph read_onnx(std::string_view file, std::size_t graph_bytes) {
  LT_REQUIRE(!file.empty(), "the ONNX file is empty");
  LT_REQUIRE(file.size() <= kOnnxFileBytes, "the ONNX file is larger than ", kOnnxFileBytes,
             " bytes; keep the weights in a file beside it");
  OnnxGraph graph;
  try {
    graph = read_model(pbf_reader(file.data(), file.size()), graph_bytes);
  } catch (const protozero::exception&) {
    throw InvalidInput("not an ONNX file, or one that was cut off");
  }
  LT_REQUIRE(!graph.nodes.empty(), "not an ONNX file: it has no graph with ops");
  LT_REQUIRE(graph.opset >= kFirstOpset && graph.opset <= kLastOpset, "the ONNX file has opset ",
             graph.opset, "; known are ", kFirstOpset, " to ", kLastOpset);
  return graph;
}

#else

OnnxGraph read_onnx(std::string_view, std::size_t) {
  throw InvalidInput(
      "this build cannot read ONNX files; install libprotozero-dev and build it again");
}

#endif

}  // namespace lowtide::estimate
