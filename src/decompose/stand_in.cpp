// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "decompose/stand_in.h"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include <ATen/ATen.h>
#include <c10/core/TensorImpl.h>
#include <torch/library.h>

#include "base/check.h"

namespace lowtide::decompose {
namespace {

// One that no backend and no feature of torch has: torch uses it only in its own tests of what we
// do here, tensors that wrap others.
constexpr c10::DispatchKey kKey = c10::DispatchKey::TESTING_ONLY_GenericWrapper;

class StandInImpl : public c10::TensorImpl {
 public:
  StandInImpl(std::shared_ptr<const StandIn> stand_in, bool is_transposed)
      : TensorImpl(c10::DispatchKeySet(kKey), stand_in->factored.factors[0].tensor.dtype(),
                   stand_in->factored.factors[0].tensor.device()),
        stand_in_(std::move(stand_in)),
        is_transposed_(is_transposed) {
    set_storage_access_should_throw();
    set_custom_device(true);
    std::vector<std::int64_t> sizes = stand_in_->sizes;
    if (is_transposed) std::swap(sizes[0], sizes[1]);
    set_sizes_contiguous(sizes);
  }

  const std::shared_ptr<const StandIn>& stand_in() const { return stand_in_; }
  bool is_transposed() const { return is_transposed_; }

  // The factors go to other devices and types with their model, and nobody tells us. Torch asks
  // for the device; the type it takes from the member, so that is kept up with at each use.
  void follow_factors() { data_type_ = first_factor().dtype(); }

 protected:
  c10::Device device_custom() const override { return first_factor().device(); }

 private:
  const at::Tensor& first_factor() const { return stand_in_->factored.factors[0].tensor; }

  std::shared_ptr<const StandIn> stand_in_;
  bool is_transposed_;
};

StandInImpl* impl_of(const at::Tensor& tensor) {
  auto* impl = dynamic_cast<StandInImpl*>(tensor.unsafeGetTensorImpl());
  if (impl != nullptr) impl->follow_factors();
  return impl;
}

[[noreturn]] void refuse(const StandIn& stand_in, std::string_view op) {
  throw InvalidInput(base::concat(
      "the weight of layer '", stand_in.layer, "' is decomposed, and ", op,
      " does not know of that; use conv2d or linear, its factors, or lowtide::merge_layers first"));
}

// Throws if the weight is not what the operator expects: an ordinary tensor may come here because
// another argument of the op is a stand-in.
const StandIn& weight_of(const at::Tensor& weight, bool is_transposed, std::string_view op,
                         const at::Tensor& input) {
  if (const StandInImpl* other = impl_of(input)) refuse(*other->stand_in(), op);
  const StandInImpl* impl = impl_of(weight);
  LT_REQUIRE(impl != nullptr, "a decomposed weight is not an argument of ", op, " but its weight");
  if (impl->is_transposed() != is_transposed) refuse(*impl->stand_in(), op);
  return *impl->stand_in();
}

at::Tensor convolution(const at::Tensor& input, const at::Tensor& weight,
                       const std::optional<at::Tensor>& bias, at::IntArrayRef stride,
                       at::IntArrayRef padding, at::IntArrayRef dilation, std::int64_t groups) {
  const StandIn& stand_in = weight_of(weight, false, "conv2d", input);
  LT_REQUIRE(groups == 1, "the weight of layer '", stand_in.layer,
             "' is decomposed, which a grouped convolution's cannot be");
  const auto both = [](at::IntArrayRef values) {
    return std::vector<std::int64_t>{values[0], values[values.size() - 1]};
  };
  return convolve(input, stand_in, bias.value_or(at::Tensor()),
                  {both(stride), both(padding), both(dilation)});
}

// "same" may need one more at the end than at the beginning, which convolutions do not have.
at::Tensor convolution_padded(const at::Tensor& input, const at::Tensor& weight,
                              const std::optional<at::Tensor>& bias, at::IntArrayRef stride,
                              std::string_view padding, at::IntArrayRef dilation,
                              std::int64_t groups) {
  const StandIn& stand_in = weight_of(weight, false, "conv2d", input);
  LT_REQUIRE(padding == "same" || padding == "valid", "unknown padding: ", padding);
  constexpr std::array<std::int64_t, 2> kNone = {0, 0};
  LT_REQUIRE(padding == "valid" ||
                 std::all_of(stride.begin(), stride.end(), [](std::int64_t by) { return by == 1; }),
             "padding 'same' is not for convolutions with a stride");
  if (padding == "valid") return convolution(input, weight, bias, stride, kNone, dilation, groups);
  std::array<std::int64_t, 4> around{};  // of the last dimension first
  for (std::size_t i = 0; i < 2; ++i) {
    const std::int64_t all = dilation[i % dilation.size()] * (stand_in.sizes[2 + i] - 1);
    around[2 * (1 - i)] = all / 2;
    around[2 * (1 - i) + 1] = all - all / 2;
  }
  return convolution(at::constant_pad_nd(input, around, 0), weight, bias, stride, kNone, dilation,
                     groups);
}

at::Tensor linear_layer(const at::Tensor& input, const at::Tensor& weight,
                        const std::optional<at::Tensor>& bias) {
  return multiply(input, weight_of(weight, false, "linear", input), bias.value_or(at::Tensor()));
}

at::Tensor transposed(const at::Tensor& weight) {
  const StandInImpl* impl = impl_of(weight);
  LT_CHECK(impl != nullptr, "t of a tensor with our key");
  if (impl->stand_in()->sizes.size() != 2) refuse(*impl->stand_in(), "t");
  return at::detail::make_tensor<StandInImpl>(impl->stand_in(), !impl->is_transposed());
}

at::Tensor product(const at::Tensor& input, const at::Tensor& weight) {
  return multiply(input, weight_of(weight, true, "matmul", input), {});
}

at::Tensor product_and_sum(const at::Tensor& bias, const at::Tensor& input,
                           const at::Tensor& weight, const at::Scalar& beta,
                           const at::Scalar& alpha) {
  const StandIn& stand_in = weight_of(weight, true, "addmm", input);
  if (!beta.equal(1) || !alpha.equal(1) || bias.dim() != 1) refuse(stand_in, "addmm with factors");
  return multiply(input, stand_in, bias);
}

void refuse_boxed(const c10::OperatorHandle& op, c10::Stack* stack) {
  for (const c10::IValue& argument : *stack) {
    if (!argument.isTensor()) continue;
    if (const StandInImpl* impl = impl_of(argument.toTensor())) {
      refuse(*impl->stand_in(), op.schema().name());
    }
  }
  throw InvalidInput(base::concat("the weight of a decomposed layer is among the tensors of ",
                                  op.schema().name(), ", which does not know of that"));
}

TORCH_LIBRARY_IMPL(_, TESTING_ONLY_GenericWrapper, library) {
  library.fallback(torch::CppFunction::makeFromBoxedFunction<&refuse_boxed>());
}

TORCH_LIBRARY_IMPL(aten, TESTING_ONLY_GenericWrapper, library) {
  library.impl("conv2d", &convolution);
  library.impl("conv2d.padding", &convolution_padded);
  library.impl("linear", &linear_layer);
  library.impl("t", &transposed);
  library.impl("matmul", &product);
  library.impl("addmm", &product_and_sum);
}

}  // namespace

at::Tensor make_stand_in(StandIn stand_in) {
  LT_CHECK(!stand_in.factored.factors.empty(), "a stand-in without factors");
  return at::detail::make_tensor<StandInImpl>(std::make_shared<const StandIn>(std::move(stand_in)),
                                              false);
}

const StandIn* stand_in_of(const at::Tensor& tensor) {
  const StandInImpl* impl = tensor.defined() ? impl_of(tensor) : nullptr;
  return impl == nullptr ? nullptr : impl->stand_in().get();
}

at::Tensor convolve(const at::Tensor& input, const StandIn& weight, const at::Tensor& bias,
                    const ConvolutionSettings& settings) {
  if (weight.on_use) weight.on_use(input);
  const auto& [stride, padding, dilation] = settings;
  const std::vector<Factor>& f = weight.factored.factors;
  if (weight.factored.form.is_reconstructed) {
    return at::conv2d(input, reconstruct(weight.factored, weight.sizes), bias, stride, padding,
                      dilation);
  }
  const at::Tensor& out = f.back().tensor;
  if (weight.factored.form.method == Decomposition::kSvd) {
    // What the stride leaves out is never computed.
    return at::conv2d(at::conv2d(input, f[0].tensor, {}, stride, padding), out, bias);
  }
  at::Tensor x = at::conv2d(input, f[0].tensor);
  const std::int64_t rank = f[0].tensor.size(0);
  if (weight.factored.form.method == Decomposition::kTucker2) {
    x = at::conv2d(x, f[1].tensor, {}, stride, padding, dilation);
  } else if (weight.factored.form.method == Decomposition::kCp3) {
    x = at::conv2d(x, f[1].tensor, {}, stride, padding, dilation, rank);
  } else {
    using Two = std::array<std::int64_t, 2>;
    x = at::conv2d(x, f[1].tensor, {}, Two{stride[0], 1}, Two{padding[0], 0}, Two{dilation[0], 1},
                   rank);
    x = at::conv2d(x, f[2].tensor, {}, Two{1, stride[1]}, Two{0, padding[1]}, Two{1, dilation[1]},
                   rank);
  }
  return at::conv2d(x, out, bias);
}

at::Tensor multiply(const at::Tensor& input, const StandIn& weight, const at::Tensor& bias) {
  if (weight.on_use) weight.on_use(input);
  const std::vector<Factor>& f = weight.factored.factors;
  if (weight.factored.form.is_reconstructed) {
    return at::linear(input, reconstruct(weight.factored, weight.sizes), bias);
  }
  return at::linear(at::linear(input, f[0].tensor), f[1].tensor, bias);
}

}  // namespace lowtide::decompose
