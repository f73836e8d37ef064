// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
//
// Operators that are not torch's own, of which only the schema is known: as libraries and programs
// define them.
#include <string>
#include <vector>

#include <ATen/core/dispatch/Dispatcher.h>
#include <gtest/gtest.h>
#include <torch/library.h>
#include <torch/torch.h>

#include "torch/compare.h"
#include "torch/device.h"
#include "torch/training.h"

namespace lowtide::torch_test {
namespace {

using Parts = c10::Dict<std::string, at::Tensor>;

// Draws, and nothing says so.
at::Tensor drop_half(const at::Tensor& x) { return x * at::rand_like(x).gt(0.5); }

// Draws on the host, whatever the device.
at::Tensor stretch(const at::Tensor& x) { return x * at::rand({1}).item<double>(); }

at::Tensor sum_of(const Parts& parts) {
  at::Tensor sum = at::zeros({}, parts.begin()->value().options());
  for (const auto& part : parts) sum = sum + part.value();
  return sum;
}

// Annotated as a view, as which it may be used where it does not copy.
at::Tensor maybe_turned(const at::Tensor& x, bool turns) {
  return turns ? x.flip(0) : at::alias(x);
}

at::Tensor scaled(const at::Tensor& x, const std::vector<double>& factors) {
  at::Tensor result = x;
  for (const double factor : factors) result = result * factor;
  return result;
}

TORCH_LIBRARY(lowtide_operators_test, library) {
  library.def("drop_half(Tensor x) -> Tensor");
  library.def("stretch(Tensor x) -> Tensor");
  library.def("sum_of(Dict(str, Tensor) parts) -> Tensor");
  library.def("maybe_turned(Tensor(a) x, bool turns) -> Tensor(a)");
  library.def("scaled(Tensor x, float[] factors) -> Tensor");
}

TORCH_LIBRARY_IMPL(lowtide_operators_test, CompositeExplicitAutograd, library) {
  library.impl("drop_half", drop_half);
  library.impl("stretch", stretch);
  library.impl("sum_of", sum_of);
  library.impl("maybe_turned", maybe_turned);
  library.impl("scaled", scaled);
}

c10::OperatorHandle operator_named(const std::string& name) {
  return c10::Dispatcher::singleton().findSchemaOrThrow(("lowtide_operators_test::" + name).c_str(),
                                                        "");
}

template <class... Arguments>
at::Tensor call(const std::string& name, Arguments&&... arguments) {
  torch::jit::Stack stack;
  (stack.emplace_back(std::forward<Arguments>(arguments)), ...);
  operator_named(name).callBoxed(&stack);
  return stack.back().toTensor();
}

SessionOptions evicting_all(Means means) {
  SessionOptions options = options_for(0, means);
  options.evict_everything = true;
  return options;
}

class ForeignOperator : public testing::TestWithParam<Means> {
 protected:
  void SetUp() override {
    LT_SKIP_IF(why_skip());
    x = Data(test_device(), kSeed).normal({256, 256});
  }

  at::Tensor x;
};

TEST_P(ForeignOperator, ThatDrawsWithoutSayingSoDrawsTheSameAgain) {
  for (const char* name : {"drop_half", "stretch"}) {
    const auto run = [&] {
      torch::manual_seed(kSeed);
      const at::Tensor y = call(name, x * 1);
      const at::Tensor next = at::rand({64}, x.options());
      const at::Tensor next_of_host = at::rand({64});
      const at::Tensor again = y * 2;
      return std::vector<at::Tensor>{y * 1, again, next, next_of_host, at::rand({64}, x.options())};
    };
    const std::vector<at::Tensor> wanted = run();
    const Session session(evicting_all(GetParam()));
    const std::vector<at::Tensor> got = run();
    for (std::size_t i = 0; i < wanted.size(); ++i) {
      EXPECT_TRUE(at::equal(got[i], wanted[i])) << name << ", " << i;
    }
    EXPECT_GT(session.stats().evictions, 0);
    if (GetParam() == Means::kRecompute) {
      EXPECT_GT(session.stats().recomputes, 0) << name;
    }
  }
}

TEST_P(ForeignOperator, FindsWhatItTakesInADictionary) {
  const at::Tensor wanted = x * 3 + x * 4;
  const Session session(evicting_all(GetParam()));
  Parts parts;
  parts.insert("one", x * 3);
  parts.insert("other", x * 4);
  EXPECT_TRUE(at::equal(call("sum_of", parts), wanted));
}

TEST_P(ForeignOperator, MayCopyWhereItsSchemaSaysView) {
  const at::Tensor wanted = (x * 3).flip(0);
  const Session session(evicting_all(GetParam()));
  const at::Tensor y = x * 3;
  EXPECT_TRUE(at::equal(call("maybe_turned", y, true), wanted));
  EXPECT_TRUE(at::equal(call("maybe_turned", y, false), wanted.flip(0)));
}

TEST_P(ForeignOperator, IsReplayedWithTheListThatItWasGiven) {
  const at::Tensor wanted = x * 2.0 * 3.0;
  const Session session(evicting_all(GetParam()));
  c10::List<double> factors({2.0, 3.0});
  const at::Tensor y = call("scaled", x * 1, factors);
  factors[1] = 5.0;
  EXPECT_TRUE(at::equal(y, wanted));
}

INSTANTIATE_TEST_SUITE_P(Means, ForeignOperator,
                         testing::Values(Means::kRecompute, Means::kHost, Means::kMixed),
                         [](const auto& row) { return name_of(row.param); });

}  // namespace
}  // namespace lowtide::torch_test
