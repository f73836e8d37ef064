// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <string>
#include <vector>

// Nets of papers, for the tests of this folder.

namespace lowtide::policy {

struct NetLayer {
  const char* op;
  // That it makes of one picture.
  std::int64_t elements;
};

// The step of a chain of layers. On the way back `conv2d` and `addmm` read their input and the
// weights, and the others both sides of themselves, as cuDNN's do; g<last> begins it. Weights take
// one byte.
inline std::string net_text(const std::vector<NetLayer>& layers, std::int64_t input_elements,
                            std::int64_t bytes_an_element = 1) {
  const auto bytes = [&](std::int64_t elements) {
    return " " + std::to_string(elements * bytes_an_element);
  };
  std::string storages =
      "storage w 1 parameter start end\nstorage x" + bytes(input_elements) + " input start\n";
  std::string forward;
  std::string backward;
  std::string last = "x";
  for (std::size_t i = 0; i < layers.size(); ++i) {
    const std::string number = std::to_string(i);
    const std::string op = layers[i].op;
    const bool has_weights = op == "conv2d" || op == "addmm";
    storages += "storage a" + number + bytes(layers[i].elements) + " activation\nstorage g" +
                number + bytes(layers[i].elements) + " temporary\n";
    forward +=
        "op " + op + " forward : " + last + (has_weights ? " w" : "") + " -> a" + number + "\n";
    const std::string reads = last + (has_weights ? " w" : " a" + number);
    const std::string made = i == 0 ? "" : "g" + std::to_string(i - 1);
    backward = "op " + op + "_backward backward : " + reads + " g" + number + " -> " + made +
               " free g" + number + "\n" + backward;
    last = "a" + number;
  }
  return storages + forward + "op loss backward : " + last + " -> g" +
         std::to_string(layers.size() - 1) + "\n" + backward;
}

}  // namespace lowtide::policy
