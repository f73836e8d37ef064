// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "torch/snapshot.h"

#include <algorithm>
#include <cstring>
#include <iomanip>
#include <mutex>
#include <sstream>

#include <ATen/Context.h>

namespace lowtide::torch_test {
namespace {

// Appends the elements of a strided block, the last dimension running fastest.
void append(const std::byte* data, at::IntArrayRef sizes, at::IntArrayRef strides,
            std::size_t item_bytes, std::vector<std::byte>& out) {
  if (sizes.empty()) {
    out.insert(out.end(), data, data + item_bytes);
    return;
  }
  if (sizes.size() == 1 && strides[0] == 1) {
    out.insert(out.end(), data, data + static_cast<std::size_t>(sizes[0]) * item_bytes);
    return;
  }
  for (std::int64_t i = 0; i < sizes[0]; ++i) {
    append(data + i * strides[0] * static_cast<std::int64_t>(item_bytes), sizes.slice(1),
           strides.slice(1), item_bytes, out);
  }
}

std::string hexadecimal(const std::byte* data, std::size_t count) {
  std::ostringstream out;
  out << "0x" << std::hex << std::setfill('0');
  // Little-endian: the most significant byte comes last.
  for (std::size_t i = count; i > 0; --i) out << std::setw(2) << std::to_integer<int>(data[i - 1]);
  return out.str();
}

std::optional<std::string> difference(const Snapshot& wanted, const Snapshot& got) {
  if (wanted.name != got.name) return "expected " + wanted.name + ", there is " + got.name;
  if (wanted.form != got.form) {
    return wanted.name + " is " + got.form + ", expected " + wanted.form;
  }
  const auto [at_wanted, at_got] =
      std::mismatch(wanted.bytes.begin(), wanted.bytes.end(), got.bytes.begin(), got.bytes.end());
  if (at_wanted == wanted.bytes.end()) return std::nullopt;
  const std::size_t size = wanted.item_bytes;
  const std::size_t index = static_cast<std::size_t>(at_wanted - wanted.bytes.begin()) / size;
  std::size_t differing = 0;
  for (std::size_t i = 0; i < wanted.bytes.size(); i += size) {
    if (std::memcmp(&wanted.bytes[i], &got.bytes[i], size) != 0) ++differing;
  }
  std::ostringstream out;
  out << wanted.name << " " << wanted.form << " differs at element " << index << ": expected "
      << hexadecimal(&wanted.bytes[index * size], size) << ", got "
      << hexadecimal(&got.bytes[index * size], size) << "; " << differing << " of "
      << wanted.bytes.size() / size << " elements differ";
  return out.str();
}

}  // namespace

Snapshot take(const NamedTensor& item, const Access& access) {
  const at::Tensor source = item.tensor.detach();
  std::ostringstream form;
  form << source.scalar_type() << source.sizes();
  Snapshot result{item.name, form.str(), source.itemsize(), {}};
  if (source.numel() == 0) return result;
  access.begin(source);
  const at::Tensor here = source.is_cpu() ? source : source.cpu();
  result.bytes.reserve(static_cast<std::size_t>(here.numel()) * result.item_bytes);
  append(static_cast<const std::byte*>(here.const_data_ptr()), here.sizes(), here.strides(),
         result.item_bytes, result.bytes);
  access.end(source);
  return result;
}

State take_state(const Training& training, at::Device device, const Access& access) {
  State result;
  for (const NamedTensor& item : training.state()) result.push_back(take(item, access));
  at::Generator generator = at::globalContext().defaultGenerator(device);
  const std::scoped_lock lock(generator.mutex());
  // On the CPU whatever the device, and smaller than any storage that a session evicts.
  result.push_back(take({"generator", generator.get_state()}, {}));
  return result;
}

std::optional<std::string> first_difference(const State& wanted, const State& got) {
  for (std::size_t i = 0; i < std::min(wanted.size(), got.size()); ++i) {
    if (auto found = difference(wanted[i], got[i])) return found;
  }
  if (wanted.size() == got.size()) return std::nullopt;
  return "the state has " + std::to_string(got.size()) + " tensors, expected " +
         std::to_string(wanted.size());
}

}  // namespace lowtide::torch_test
