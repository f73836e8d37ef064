// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <span>

// The files of data/ that are linked into the program, so that it needs no files to train.

namespace lowtide::zoo {

std::span<const std::uint8_t> embedded_fashion_mnist_pictures();
std::span<const std::uint8_t> embedded_fashion_mnist_labels();
std::span<const std::uint8_t> embedded_tiny_shakespeare();

}  // namespace lowtide::zoo
