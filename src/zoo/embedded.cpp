// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "zoo/embedded.h"

// The assembler finds the files by the folder that CMakeLists.txt gives it.
#define LT_EMBED(name, file)                                 \
  asm(".pushsection .rodata\n"                               \
      ".global lt_" #name "_begin\n.global lt_" #name        \
      "_end\n"                                               \
      "lt_" #name "_begin:\n.incbin \"" file "\"\nlt_" #name \
      "_end:\n"                                              \
      ".byte 0\n.popsection\n");                             \
  extern "C" const std::uint8_t lt_##name##_begin[];         \
  extern "C" const std::uint8_t lt_##name##_end[]

LT_EMBED(fashion_mnist_pictures, "fashion-mnist/t10k-images-idx3-ubyte.gz");
LT_EMBED(fashion_mnist_labels, "fashion-mnist/t10k-labels-idx1-ubyte.gz");
LT_EMBED(tiny_shakespeare, "tiny-shakespeare/tiny-shakespeare.txt.gz");

namespace lowtide::zoo {

std::span<const std::uint8_t> embedded_fashion_mnist_pictures() {
  return {lt_fashion_mnist_pictures_begin, lt_fashion_mnist_pictures_end};
}

std::span<const std::uint8_t> embedded_fashion_mnist_labels() {
  return {lt_fashion_mnist_labels_begin, lt_fashion_mnist_labels_end};
}

std::span<const std::uint8_t> embedded_tiny_shakespeare() {
  return {lt_tiny_shakespeare_begin, lt_tiny_shakespeare_end};
}

}  // namespace lowtide::zoo
