// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "train/compare.h"

#include <algorithm>
#include <cstring>

#include <ATen/ATen.h>

#include "base/check.h"
#include "base/numbers.h"
#include "run/tier/checksum.h"

namespace lowtide::train {
namespace {

std::string text_of(const at::Tensor& flat, std::int64_t element) {
  const at::Tensor item = flat[element];
  if (item.is_floating_point()) return base::print_number(item.item<double>());
  return std::to_string(item.item<std::int64_t>());
}

}  // namespace

StateDigest digest_of(const State& state, Session* session) {
  StateDigest result;
  for (const NamedTensor& item : state) {
    with_bytes(item.tensor, session, [&](std::span<const std::byte> bytes) {
      const auto count = static_cast<std::int64_t>(bytes.size());
      result.push_back({item.name, count == 0 ? 0 : tier::checksum(bytes.data(), count, 0, 0)});
    });
  }
  return result;
}

std::optional<std::string> first_differing(const StateDigest& wanted, const StateDigest& got) {
  const auto [at_wanted, at_got] =
      std::mismatch(wanted.begin(), wanted.end(), got.begin(), got.end());
  if (at_wanted != wanted.end()) return at_wanted->name;
  if (at_got != got.end()) return at_got->name;
  return std::nullopt;
}

std::optional<ElementDifference> first_differing_element(const at::Tensor& wanted,
                                                         const at::Tensor& got) {
  LT_CHECK(wanted.sizes() == got.sizes() && wanted.scalar_type() == got.scalar_type(),
           "tensors of different forms are compared");
  const at::Tensor a = wanted.detach().contiguous().view({-1});
  const at::Tensor b = got.detach().contiguous().view({-1});
  const auto* const from_a = static_cast<const std::byte*>(a.const_data_ptr());
  const auto* const from_b = static_cast<const std::byte*>(b.const_data_ptr());
  const auto* const differing = std::mismatch(from_a, from_a + a.nbytes(), from_b).first;
  if (differing == from_a + a.nbytes()) return std::nullopt;
  const std::int64_t element = (differing - from_a) / static_cast<std::int64_t>(a.itemsize());
  return ElementDifference{element, text_of(a, element), text_of(b, element)};
}

}  // namespace lowtide::train
