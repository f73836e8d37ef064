// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT

// ONNX's operators that go entry by entry, as torch's functions for the same. Those that graphs
// compute shapes with work on known numbers too; comparisons give 0 and 1 there.

#include <algorithm>
#include <cmath>
#include <utility>

#include <ATen/ATen.h>

#include "base/check.h"
#include "estimate/torch/onnx_call.h"

namespace lowtide::estimate {

constexpr const char* kTooLarge = "the graph computes a size that is too large";

std::int64_t sum_of(std::int64_t a, std::int64_t b) {
  std::int64_t sum = 0;
  LT_REQUIRE(!__builtin_add_overflow(a, b, &sum), kTooLarge);
  return sum;
}

std::int64_t difference_of(std::int64_t a, std::int64_t b) {
  std::int64_t difference = 0;
  LT_REQUIRE(!__builtin_sub_overflow(a, b, &difference), kTooLarge);
  return difference;
}

std::int64_t product_of(std::int64_t a, std::int64_t b) {
  std::int64_t product = 0;
  LT_REQUIRE(!__builtin_mul_overflow(a, b, &product), kTooLarge);
  return product;
}

std::int64_t quotient_of(std::int64_t a, std::int64_t b) {
  LT_REQUIRE(b != 0, "the graph divides a size by 0");
  return b == -1 ? product_of(a, b) : a / b;
}

namespace {

using at::Tensor;
using Integers = std::vector<std::int64_t>;
using Values = std::vector<OnnxValue>;

std::int64_t remainder_of(std::int64_t a, std::int64_t b) {
  LT_REQUIRE(b != 0, "the graph divides a size by 0");
  if (b == -1) return 0;
  const std::int64_t rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

// Whole or not; nothing if they are not known.
std::optional<std::vector<float>> fractions_of(const OnnxValue& value) {
  if (value.floats || !value.integers) return value.floats;
  return std::vector<float>(value.integers->begin(), value.integers->end());
}

using Unary = Tensor (*)(const Tensor&);
using OnNumber = std::int64_t (*)(std::int64_t);
using OnFraction = float (*)(float);
OnnxOp unary(Unary function, OnNumber on_number = nullptr, OnFraction on_fraction = nullptr) {
  return [function, on_number, on_fraction](const OnnxCall& call) {
    if (on_number == nullptr || call.inputs.size() != 1 || !has_numbers(call)) {
      OnnxValue result{.tensor = function(call.tensor(0))};
      if (on_fraction != nullptr) result.floats = call.inputs[0].floats;
      if (result.floats) {
        for (float& number : *result.floats) number = on_fraction(number);
      }
      return Values{result};
    }
    Integers results = call.integers(0);
    for (std::int64_t& result : results) result = on_number(result);
    return numbers(std::move(results), call.inputs[0].is_scalar);
  };
}

std::size_t common_length(const OnnxCall& call) {
  std::size_t length = 1;
  for (std::size_t i = 0; i < call.inputs.size(); ++i) {
    const std::size_t own = call.integers(i).size();
    LT_REQUIRE(own > 0 && (length == 1 || own == 1 || own == length), "the op ", call.node.op,
               " has inputs of different lengths");
    length = std::max(length, own);
  }
  return length;
}

bool are_scalars(const OnnxCall& call) {
  return std::all_of(call.inputs.begin(), call.inputs.end(),
                     [](const OnnxValue& value) { return value.is_scalar; });
}

std::int64_t repeated(const Integers& integers, std::size_t i) {
  return integers[std::min(i, integers.size() - 1)];
}

using Binary = Tensor (*)(const Tensor&, const Tensor&);
using OnNumbers = std::int64_t (*)(std::int64_t, std::int64_t);
using OnFractions = float (*)(float, float);

std::optional<std::vector<float>> combined(const OnnxCall& call, OnFractions on_fractions) {
  const auto a = fractions_of(call.inputs[0]), b = fractions_of(call.inputs[1]);
  if (!a || !b || a->empty() || b->empty()) return std::nullopt;
  const std::size_t length = std::max(a->size(), b->size());
  if (std::min(a->size(), b->size()) != 1 && a->size() != b->size()) return std::nullopt;
  std::vector<float> results;
  for (std::size_t i = 0; i < length; ++i) {
    results.push_back(on_fractions((*a)[a->size() == 1 ? 0 : i], (*b)[b->size() == 1 ? 0 : i]));
  }
  return results;
}

// On known numbers too, if both are as many or one is a single one.
OnnxOp binary(Binary function, OnNumbers on_numbers = nullptr, OnFractions on_fractions = nullptr) {
  return [function, on_numbers, on_fractions](const OnnxCall& call) {
    if (on_numbers == nullptr || call.inputs.size() != 2 || !has_numbers(call)) {
      OnnxValue result{.tensor = function(call.tensor(0), call.tensor(1))};
      if (on_fractions != nullptr && result.tensor.dim() <= 1) {
        result.floats = combined(call, on_fractions);
      }
      return Values{result};
    }
    const std::size_t length = common_length(call);
    const Integers a = call.integers(0), b = call.integers(1);
    Integers results;
    for (std::size_t i = 0; i < length; ++i) {
      results.push_back(on_numbers(repeated(a, i), repeated(b, i)));
    }
    return numbers(results, are_scalars(call));
  };
}

// Of any number of inputs.
Values mean_of_inputs(const OnnxCall& call) {
  Tensor sum = call.tensor(0);
  for (std::size_t i = 1; i < call.inputs.size(); ++i) sum = at::add(sum, call.tensor(i));
  return one(at::div(sum, static_cast<double>(call.inputs.size())));
}

OnnxOp folded(Binary function, OnNumbers on_numbers) {
  return [function, on_numbers](const OnnxCall& call) {
    if (call.inputs.size() == 2) return binary(function, on_numbers)(call);
    Tensor result = call.tensor(0);
    for (std::size_t i = 1; i < call.inputs.size(); ++i) result = function(result, call.tensor(i));
    return one(result);
  };
}

Values where(const OnnxCall& call) {
  if (call.inputs.size() != 3 || !has_numbers(call)) {
    return one(at::where(call.tensor(0).to(at::kBool), call.tensor(1), call.tensor(2)));
  }
  const std::size_t length = common_length(call);
  const Integers condition = call.integers(0), a = call.integers(1), b = call.integers(2);
  Integers results;
  for (std::size_t i = 0; i < length; ++i) {
    results.push_back(repeated(condition, i) != 0 ? repeated(a, i) : repeated(b, i));
  }
  return numbers(results, are_scalars(call));
}

using Ops = std::vector<std::pair<std::string, OnnxOp>>;

void add_comparisons(Ops& ops) {
  ops.insert(
      ops.end(),
      {{"Equal", binary([](const Tensor& a, const Tensor& b) { return at::eq(a, b); },
                        [](std::int64_t a, std::int64_t b) -> std::int64_t { return a == b; })},
       {"Less", binary([](const Tensor& a, const Tensor& b) { return at::lt(a, b); },
                       [](std::int64_t a, std::int64_t b) -> std::int64_t { return a < b; })},
       {"Greater", binary([](const Tensor& a, const Tensor& b) { return at::gt(a, b); },
                          [](std::int64_t a, std::int64_t b) -> std::int64_t { return a > b; })},
       {"LessOrEqual",
        binary([](const Tensor& a, const Tensor& b) { return at::le(a, b); },
               [](std::int64_t a, std::int64_t b) -> std::int64_t { return a <= b; })},
       {"GreaterOrEqual",
        binary([](const Tensor& a, const Tensor& b) { return at::ge(a, b); },
               [](std::int64_t a, std::int64_t b) -> std::int64_t { return a >= b; })},
       {"And", binary([](const Tensor& a, const Tensor& b) { return at::logical_and(a, b); },
                      [](std::int64_t a, std::int64_t b) -> std::int64_t { return a && b; })},
       {"Or", binary([](const Tensor& a, const Tensor& b) { return at::logical_or(a, b); },
                     [](std::int64_t a, std::int64_t b) -> std::int64_t { return a || b; })},
       {"Xor", binary([](const Tensor& a, const Tensor& b) { return at::logical_xor(a, b); })},
       {"Not", unary([](const Tensor& a) { return at::logical_not(a); },
                     [](std::int64_t a) -> std::int64_t { return a == 0; })},
       {"IsNaN", unary([](const Tensor& a) { return at::isnan(a); })},
       {"IsInf", unary([](const Tensor& a) { return at::isinf(a); })},
       {"Where", where}});
}

void add_sums(Ops& ops) {
  static constexpr Binary add = [](const Tensor& a, const Tensor& b) { return at::add(a, b); };
  ops.insert(
      ops.end(),
      {{"Add", binary(add, sum_of, [](float a, float b) { return a + b; })},
       {"Sum", folded(add, sum_of)},
       {"Mean", mean_of_inputs},
       {"Sub", binary([](const Tensor& a, const Tensor& b) { return at::sub(a, b); }, difference_of,
                      [](float a, float b) { return a - b; })},
       {"Mul", binary([](const Tensor& a, const Tensor& b) { return at::mul(a, b); }, product_of,
                      [](float a, float b) { return a * b; })},
       {"Div", binary([](const Tensor& a, const Tensor& b) { return at::div(a, b); }, quotient_of,
                      [](float a, float b) { return a / b; })},
       {"BitwiseAnd",
        binary([](const Tensor& a, const Tensor& b) { return at::bitwise_and(a, b); })},
       {"BitwiseOr", binary([](const Tensor& a, const Tensor& b) { return at::bitwise_or(a, b); })},
       {"BitwiseXor",
        binary([](const Tensor& a, const Tensor& b) { return at::bitwise_xor(a, b); })},
       {"Mod",
        binary([](const Tensor& a, const Tensor& b) { return at::remainder(a, b); }, remainder_of)},
       {"Pow", binary([](const Tensor& a, const Tensor& b) { return at::pow(a, b); })},
       {"Min", folded([](const Tensor& a, const Tensor& b) { return at::minimum(a, b); },
                      [](std::int64_t a, std::int64_t b) { return std::min(a, b); })},
       {"Max", folded([](const Tensor& a, const Tensor& b) { return at::maximum(a, b); },
                      [](std::int64_t a, std::int64_t b) { return std::max(a, b); })},
       {"PRelu",
        binary([](const Tensor& a, const Tensor& b) { return at::where(a.gt(0), a, a.mul(b)); })}});
}

void add_roundings(Ops& ops) {
  static constexpr OnNumber as_it_is = [](std::int64_t a) { return a; };
  ops.insert(ops.end(),
             {{"Floor", unary([](const Tensor& a) { return at::floor(a); }, as_it_is,
                              [](float a) { return std::floor(a); })},
              {"Ceil", unary([](const Tensor& a) { return at::ceil(a); }, as_it_is,
                             [](float a) { return std::ceil(a); })},
              {"Round", unary([](const Tensor& a) { return at::round(a); }, as_it_is,
                              [](float a) { return std::nearbyint(a); })},
              {"Neg", unary([](const Tensor& a) { return at::neg(a); },
                            [](std::int64_t a) { return difference_of(0, a); })},
              {"Abs", unary([](const Tensor& a) { return at::abs(a); },
                            [](std::int64_t a) { return a < 0 ? difference_of(0, a) : a; })},
              {"Sign", unary([](const Tensor& a) { return at::sign(a); })}});
}

void add_functions(Ops& ops) {
  ops.insert(ops.end(), {{"Relu", unary([](const Tensor& a) { return at::relu(a); })},
                         {"Sigmoid", unary([](const Tensor& a) { return at::sigmoid(a); })},
                         {"Tanh", unary([](const Tensor& a) { return at::tanh(a); })},
                         {"Erf", unary([](const Tensor& a) { return at::erf(a); })},
                         {"Exp", unary([](const Tensor& a) { return at::exp(a); })},
                         {"Log", unary([](const Tensor& a) { return at::log(a); })},
                         {"Sqrt", unary([](const Tensor& a) { return at::sqrt(a); })},
                         {"Reciprocal", unary([](const Tensor& a) { return at::reciprocal(a); })},
                         {"Gelu", unary([](const Tensor& a) { return at::gelu(a); })},
                         {"LeakyRelu", unary([](const Tensor& a) { return at::leaky_relu(a); })},
                         {"HardSwish", unary([](const Tensor& a) { return at::hardswish(a); })},
                         {"HardSigmoid", unary([](const Tensor& a) { return at::hardsigmoid(a); })},
                         {"Mish", unary([](const Tensor& a) { return at::mish(a); })},
                         {"Elu", unary([](const Tensor& a) { return at::elu(a); })},
                         {"Selu", unary([](const Tensor& a) { return at::selu(a); })},
                         {"Softplus", unary([](const Tensor& a) { return at::softplus(a); })},
                         {"Swish", unary([](const Tensor& a) { return at::silu(a); })},
                         {"Celu", unary([](const Tensor& a) { return at::celu(a); })},
                         {"Softsign", unary([](const Tensor& a) { return a / a.abs().add(1); })},
                         {"BitwiseNot", unary([](const Tensor& a) { return at::bitwise_not(a); })},
                         {"Clip", unary([](const Tensor& a) { return at::hardtanh(a, 0, 6); })}});
}

void add_angles(Ops& ops) {
  ops.insert(ops.end(), {{"Sin", unary([](const Tensor& a) { return at::sin(a); })},
                         {"Cos", unary([](const Tensor& a) { return at::cos(a); })},
                         {"Tan", unary([](const Tensor& a) { return at::tan(a); })},
                         {"Asin", unary([](const Tensor& a) { return at::asin(a); })},
                         {"Acos", unary([](const Tensor& a) { return at::acos(a); })},
                         {"Atan", unary([](const Tensor& a) { return at::atan(a); })},
                         {"Sinh", unary([](const Tensor& a) { return at::sinh(a); })},
                         {"Cosh", unary([](const Tensor& a) { return at::cosh(a); })},
                         {"Asinh", unary([](const Tensor& a) { return at::asinh(a); })},
                         {"Acosh", unary([](const Tensor& a) { return at::acosh(a); })},
                         {"Atanh", unary([](const Tensor& a) { return at::atanh(a); })}});
}

}  // namespace

void add_arithmetic_ops(Ops& ops) {
  add_angles(ops);
  add_sums(ops);
  add_comparisons(ops);
  add_roundings(ops);
  add_functions(ops);
}

}  // namespace lowtide::estimate
