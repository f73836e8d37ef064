// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <utility>
#include <vector>

#include <ATen/ops/from_blob.h>
#include <c10/core/ScalarType.h>

namespace lowtide::zoo {

// A tensor on the CPU whose memory is the vector's. A session knows nothing of it, so it may be
// filled by hand before.
template <class Element>
at::Tensor owned_tensor(std::vector<Element> elements, at::IntArrayRef sizes) {
  auto owner = std::make_shared<std::vector<Element>>(std::move(elements));
  void* const data = owner->data();
  return at::from_blob(
      data, sizes, [owner = std::move(owner)](void*) {},
      at::TensorOptions(c10::CppTypeToScalarType<Element>::value));
}

}  // namespace lowtide::zoo
