// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "run/torch/arguments.h"

#include <algorithm>

#include <c10/core/TensorImpl.h>

namespace lowtide::run {

bool has_plain_bytes(const at::Tensor& tensor) {
  const c10::TensorImpl* impl = tensor.unsafeGetTensorImpl();
  if (!impl->has_storage() || impl->is_python_dispatch()) return false;
  const c10::DispatchKeySet keys = impl->key_set();
  if (keys.has_any(c10::DispatchKeySet({c10::DispatchKey::Python, c10::DispatchKey::ZeroTensor,
                                        c10::DispatchKey::Functionalize}))) {
    return false;
  }
  return impl->layout() == at::kStrided && !tensor.is_meta() && !impl->is_sparse() &&
         !keys.has(c10::DispatchKey::NestedTensor) && !tensor.is_quantized() &&
         tensor.storage().device_type() != c10::DeviceType::Meta;
}

bool is_plain_argument(const c10::IValue& argument) {
  if (argument.isNone() || argument.isScalar() || argument.isString() || argument.isDevice() ||
      argument.isGenerator() || argument.isBool() || argument.isInt() || argument.isDouble()) {
    return true;
  }
  if (argument.isIntList() || argument.isDoubleList() || argument.isBoolList()) return true;
  if (!argument.isList()) return false;
  const auto elements = argument.toListRef();
  return std::all_of(elements.begin(), elements.end(), is_plain_argument);
}

c10::IValue as_it_is_now(const c10::IValue& argument) {
  const bool is_shared = argument.isList() && argument.use_count() > 1;
  return is_shared ? argument.deepcopy() : argument;
}

Ref geometry_of(const at::Tensor& tensor) {
  const c10::TensorImpl* impl = tensor.unsafeGetTensorImpl();
  Ref ref;
  const c10::IntArrayRef sizes = impl->sizes();
  const c10::IntArrayRef strides = impl->strides();
  ref.sizes.assign(sizes.begin(), sizes.end());
  ref.strides.assign(strides.begin(), strides.end());
  ref.offset = impl->storage_offset();
  ref.dtype = impl->dtype();
  ref.keys = impl->key_set();
  ref.is_wrapped_number = impl->is_wrapped_number();
  return ref;
}

at::Tensor tensor_from(const Ref& ref, c10::Storage storage) {
  at::Tensor tensor =
      at::detail::make_tensor<c10::TensorImpl>(std::move(storage), ref.keys, ref.dtype);
  c10::TensorImpl* impl = tensor.unsafeGetTensorImpl();
  impl->set_sizes_and_strides(ref.sizes, ref.strides, ref.offset);
  if (ref.is_wrapped_number) impl->set_wrapped_number(true);
  return tensor;
}

bool covers_storage(const at::Tensor& tensor) {
  return tensor.storage_offset() == 0 && tensor.is_non_overlapping_and_dense() &&
         static_cast<std::size_t>(tensor.numel()) * tensor.itemsize() == tensor.storage().nbytes();
}

}  // namespace lowtide::run
