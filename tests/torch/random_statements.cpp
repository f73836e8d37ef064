// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
//
// The statements of random programs.
#include <ATen/autocast_mode.h>

#include "torch/checkpoint.h"
#include "torch/random_training.h"

namespace lowtide::torch_test {
namespace {

// x * gate(x), saving something that is neither input nor output.
struct Gated : torch::autograd::Function<Gated> {
  static at::Tensor forward(torch::autograd::AutogradContext* context, const at::Tensor& x) {
    const at::Tensor gate = at::sigmoid(x);
    context->save_for_backward({x, gate});
    return x * gate;
  }
  static torch::autograd::variable_list backward(torch::autograd::AutogradContext* context,
                                                 const torch::autograd::variable_list& gradients) {
    const auto saved = context->get_saved_variables();
    at::Tensor slope = at::rsub(saved[1], 1).mul_(saved[0]).add_(1).mul_(saved[1]);
    return {slope.mul_(gradients[0])};
  }
};

// Autocast to bfloat16 while it lives.
class Autocast {
 public:
  Autocast() {
    at::autocast::set_autocast_enabled(at::kCPU, true);
    at::autocast::set_autocast_dtype(at::kCPU, at::kBFloat16);
    at::autocast::increment_nesting();
  }
  ~Autocast() {
    if (at::autocast::decrement_nesting() == 0) at::autocast::clear_cache();
    at::autocast::set_autocast_enabled(at::kCPU, false);
  }
  Autocast(const Autocast&) = delete;
  Autocast& operator=(const Autocast&) = delete;
};

// Torch's default type while it lives.
class DoubleByDefault {
 public:
  DoubleByDefault() { c10::set_default_dtype(caffe2::TypeMeta::Make<double>()); }
  ~DoubleByDefault() { c10::set_default_dtype(caffe2::TypeMeta::Make<float>()); }
  DoubleByDefault(const DoubleByDefault&) = delete;
  DoubleByDefault& operator=(const DoubleByDefault&) = delete;
};

}  // namespace

void RandomTraining::unary() {
  const at::Tensor x = rows_of_floats();
  switch (below(14)) {
    case 0:
      return put(x.relu());
    case 1:
      return put(x.tanh());
    case 2:
      return put(at::sigmoid(x) - 0.5);
    case 3:
      return put(at::gelu(x));
    case 4:
      return put(at::softmax(x, 1));
    case 5:
      return put(at::layer_norm(x, {kSide}));
    case 6:
      return put(x.clamp(-2, 2).exp() * 0.2);
    case 7:
      return put(x.flip(0));
    case 8:
      return put(x.roll(3, 1));
    case 9:
      return put(std::get<0>(x.sort(1)));
    case 10:
      return put(x.cumsum(1) * 0.01);
    case 11:
      return put(at::silu(x));
    case 12:
      return put(x * 0.7);
    default:
      return put(at::log_softmax(x, 1) * 0.1);
  }
}

void RandomTraining::binary() {
  const at::Tensor x = square();
  const at::Tensor y = square();
  switch (below(10)) {
    case 0:
      return put(x + y);
    case 1:
      return put(x.tanh() * y);
    case 2:
      return put(at::sub(x, y, 0.5));
    case 3:
      return put(at::where(mask_, x, y));
    case 4:
      return put(at::maximum(x, y));
    case 5:
      return put(at::cat({x, y}, below(2)));
    case 6:
      return put(at::stack({x, y}, 1));
    case 7:
      return put(at::lerp(x, y, 0.3));
    case 8:
      return put(at::addcmul(x, y, mask_.to(at::kFloat), 0.1));
    default:
      return put(at::mm(x, y.t()) * 0.05);
  }
}

void RandomTraining::layer() {
  const at::Tensor x = rows_of_floats();
  switch (below(7)) {
    case 0:
      return put(at::linear(x, weight(), weights_[4]));
    case 1:
      return put(at::addmm(weights_[4], x, weight().t()).tanh_());
    case 2:
      return put(at::batch_norm(x.size(0) > 1 ? x : square(), weights_[4], {}, running_mean_,
                                running_variance_, chance(80), 0.1, 1e-5, false));
    case 3:
      return put(at::embedding(words_, picked_) + square());
    case 4:
      return put(Gated::apply(x));
    case 5: {
      const at::Tensor w = weight();
      return put(checkpoint(
          [w](const at::Tensor& in) { return at::dropout(at::mm(in, w), 0.2, true).relu(); }, x));
    }
    default: {
      const at::Tensor heads = square().view({1, kSide, 4, kSide / 4}).transpose(1, 2);
      return put(
          at::scaled_dot_product_attention(heads, heads, heads * 0.5, {}, chance(50) ? 0.2 : 0.0)
              .transpose(1, 2)
              .reshape({kSide, kSide}));
    }
  }
}

void RandomTraining::index() {
  const at::Tensor x = square();
  const at::Tensor y = square();
  switch (below(7)) {
    case 0:
      return put(x.index_select(0, picked_));
    case 1:
      return put(x.gather(0, picked_.unsqueeze(0).expand({7, kSide})));
    case 2:
      return put(x.scatter_add(0, picked_.unsqueeze(0), y.narrow(0, 0, 1)));
    case 3:
      return put(x.index({picked_.narrow(0, 0, 60)}));
    case 4:
      return put(x.index_put({picked_.narrow(0, 0, 60)}, y.narrow(0, 0, 60), true));
    case 5:
      return put(x.masked_fill(mask_, 0.25));
    default:
      return put(x.masked_select(mask_));
  }
}

void RandomTraining::view() {
  const at::Tensor x = any();
  if (x.dim() == 0 || x.numel() == 0) return;
  switch (below(8)) {
    case 0:
      return put(x.transpose(0, -1));
    case 1:
      return put(x.narrow(0, x.size(0) / 3, x.size(0) / 2 + 1));
    case 2:
      return put(x.reshape({-1}));
    case 3:
      return put(x.chunk(2, 0)[0]);
    case 4:
      return put(x.unsqueeze(0));
    case 5:
      return put(square().diagonal());
    case 6:
      return put(square().as_strided({kSide - 2, kSide}, {kSide, 1}, kSide / 2));
    default:
      return put(x.detach());
  }
}

void RandomTraining::types() {
  const at::Tensor x = rows_of_floats();
  switch (below(8)) {
    case 7: {
      const at::Tensor whole = (x.detach() * 10).clamp(-100, 100).to(at::kInt);
      const DoubleByDefault doubles;
      return put(whole / 3);
    }
    case 0:
      return put(x.to(at::kDouble));
    case 1:
      return put(x.to(at::kBFloat16));
    case 2:
      return put((x * 10).clamp(-100, 100).to(at::kInt).div(3));
    case 3:
      return put(at::view_as_complex(square().view({kSide, kSide / 2, 2})).conj());
    case 4:
      return put(at::view_as_complex(square().view({kSide, kSide / 2, 2})) *
                 c10::complex<float>(0.5F, 0.5F));
    case 5:
      return put(
          at::imag(at::view_as_complex(square().view({kSide, kSide / 2, 2})).conj()).clone());
    default:
      return put(x.detach().view(at::kInt).bitwise_and(0x7f).to(at::kFloat) * 0.01);
  }
}

void RandomTraining::in_place() {
  at::Tensor x = target();
  switch (below(13)) {
    case 0:
      return put(x.add_(0.1));
    case 1:
      return put(x.mul_(0.9));
    case 2:
      return put(x.relu_());
    case 3:
      return put(x.tanh_());
    case 4:
      return put(x.clamp_(-1.5, 1.5));
    case 5:
      return put(x.copy_(x.flip(1)));
    case 6:
      return put(x.zero_());
    case 7:
      return put(x.fill_(0.5));
    case 8:
      return put(at::dropout_(x, 0.3, true));
    case 9:
      return put(x.sub_(x.mean()));
    case 10:
      return put(x.index_fill_(1, picked_.narrow(0, 0, 9), 0.3));
    case 11:
      return put(at::leaky_relu_(x, 0.2));
    default:
      x.t_();
      return put(x);
  }
}

void RandomTraining::write_through_a_view() {
  at::Tensor x = target();
  const std::int64_t rows = x.size(0);
  switch (below(8)) {
    case 0:
      x.narrow(0, 0, rows / 2 + 1).mul_(0.5);
      break;
    case 1:
      x.select(1, 3).copy_(x.select(1, 7));
      break;
    case 2:
      x.t().slice(0, 0, kSide, 2).add_(0.25);
      break;
    case 3:
      x.view({-1}).narrow(0, 5, 40).fill_(0.5);
      break;
    case 4:
      x.detach().narrow(1, 0, 10).zero_();
      break;
    case 5:
      x.unsqueeze(0).expand({1, rows, kSide}).tanh_();
      break;
    case 6: {
      const at::Tensor part = x.narrow(1, 0, kSide / 2);
      at::Tensor rest = x.narrow(1, kSide / 2, kSide / 2);
      rest.add_(part, 0.5);
      break;
    }
    default:
      at::view_as_complex(x.detach().view({rows, kSide / 2, 2})).conj().mul_(0.5);
      break;
  }
  put(x);
}

void RandomTraining::out() {
  const torch::NoGradGuard no_grad;
  const at::Tensor x = square().detach();
  const at::Tensor y = square().detach();
  at::Tensor result;
  switch (below(5)) {
    case 0:
      result = at::empty({0}, x.options());
      break;
    case 1:
      result = at::empty_like(x);
      break;
    case 2:
      result = x.clone();
      break;
    case 3: {
      result = rows_of_floats().detach().mul(2).repeat({2, 1});
      put(result.narrow(0, result.size(0) - 5, 5));
      break;
    }
    default:
      result = x;
      break;
  }
  switch (below(4)) {
    case 0:
      at::add_out(result, x, y);
      break;
    case 1:
      at::mul_out(result, y, x);
      break;
    case 2:
      if (!result.is_same(x)) at::mm_out(result, x, y * 0.05);
      break;
    default:
      at::clamp_out(result, y, -1, 1);
      break;
  }
  put(result);
}

void RandomTraining::random() {
  const at::Tensor x = rows_of_floats();
  switch (below(11)) {
    case 0:
      return put(at::dropout(x, 0.4, true));
    case 1:
      return put(at::bernoulli(x.detach().sigmoid()));
    case 2:
      return put(at::bernoulli(x.detach().sigmoid(), own_) * x);
    case 3:
      return put(at::randn({kSide, kSide}) * 0.3 + square());
    case 4:
      return put(at::empty_like(x).uniform_(-1, 1));
    case 5:
      return put(at::empty_like(x).normal_(0, 0.5, own_));
    case 6:
      return put(x.detach().clone().bernoulli_(0.4));
    case 7:
      torch::manual_seed(static_cast<std::uint64_t>(below(1000)));
      return;
    case 8: {
      at::Generator twin = own_.clone();
      return put(at::rand({kSide, kSide}, twin, at::TensorOptions()));
    }
    case 9:
      return put(at::rrelu(x, 0.1, 0.3, true));
    default:
      return put(x.index_select(0, at::randperm(x.size(0))));
  }
}

void RandomTraining::lists() {
  std::vector<at::Tensor> some;
  for (std::int64_t i = below(4) + 2; i > 0; --i) some.push_back(target());
  std::vector<at::Tensor> made;
  switch (below(6)) {
    case 0:
      at::_foreach_mul_(some, 0.8);
      break;
    case 1:
      made = at::_foreach_add(some, 0.3);
      break;
    case 2:
      made = at::_foreach_tanh(some);
      break;
    case 3: {
      const torch::NoGradGuard no_grad;
      at::_foreach_lerp_(momenta_, weights_, 0.05);
      break;
    }
    case 4:
      made = at::_foreach_norm(some);
      break;
    default: {
      std::vector<at::Tensor> copies = at::_foreach_mul(some, 2.0);
      at::_foreach_copy_(some, copies);
    }
  }
  for (at::Tensor& x : some) put(x);
  for (at::Tensor& x : made) put(x.expand(x.sizes()));
}

void RandomTraining::storages() {
  const torch::NoGradGuard no_grad;
  at::Tensor x = rows_of_floats().detach();
  at::Tensor y = square().detach().clone();
  switch (below(8)) {
    case 0: {
      at::Tensor z = at::empty({0});
      z.set_(x);
      return put(z);
    }
    case 1:
      y.resize_({kSide / 2, kSide});
      return put(y);
    case 2: {
      const auto old = y.numel();
      y.resize_({2 * kSide, kSide});
      y.view({-1}).narrow(0, old, old).fill_(0.1);
      return put(y);
    }
    case 3:
      y.resize_as_(square().detach());
      return put(y);
    case 4: {
      at::Tensor z = y * 2;
      y.set_data(z);
      return put(y);
    }
    case 5: {
      at::Tensor z = at::empty({0});
      z.set_(x.storage(), x.storage_offset(), x.sizes(), x.strides());
      if (chance(40)) z.mul_(0.9);
      return put(z);
    }
    case 6: {
      at::Tensor& w = weight();
      w.set_data(w.detach() * 0.95);
      return;
    }
    default:
      y.unsqueeze_(0).squeeze_(0);
      return put(y);
  }
}

void RandomTraining::sources() {
  const torch::NoGradGuard no_grad;
  switch (below(6)) {
    case 0:
      weight().mul_(0.99);
      return;
    case 1:
      running_mean_.lerp_(square().detach().mean(0), 0.1);
      return;
    case 2:
      words_.narrow(0, 3, 20).mul_(0.98);
      return;
    case 3:
      at::embedding_renorm_(words_, picked_.narrow(0, 0, 30), 3.0, 2.0);
      return;
    case 4:
      one_of(kept_).mul_(0.97);
      return;
    default:
      inputs_.select(0, below(3)).mul_(1.01).clamp_(-3, 3);
      return;
  }
}

void RandomTraining::reads() {
  errors_ += rows_of_floats().detach().sum().item<double>() > 0 ? 0 : 1;
}

void RandomTraining::let_go() {
  if (pool_.size() > 2) pool_.erase(pool_.begin() + below(static_cast<std::int64_t>(pool_.size())));
}

void RandomTraining::keep() {
  const at::Tensor x = any().detach();
  if (x.numel() == 0 || x.is_complex()) return;
  if (kept_.size() > 6) {
    one_of(kept_) = chance(50) ? x : x.clone();
  } else {
    kept_.push_back(x);
  }
}

void RandomTraining::use_kept() { put(one_of(kept_)); }

void RandomTraining::inference() {
  const at::Tensor x = rows_of_floats();
  at::Tensor result;
  {
    const c10::InferenceMode guard;
    at::Tensor y = at::linear(x, weight()).tanh();
    y = y.t().contiguous().reshape({-1});
    y = at::dropout(y.to(at::kDouble), 0.2, true).to(at::kFloat);
    result = at::softmax(y.view({kSide, -1}), 1);
  }
  put(result.clone());
  if (chance(30)) put(at::zeros_like(result) + 1);
}

void RandomTraining::autocast() {
  const at::Tensor x = rows_of_floats();
  const Autocast mixed;
  const at::Tensor w = weight();
  const at::Tensor y = at::linear(at::linear(x, w).relu(), w);
  put(at::layer_norm(y, {kSide}));
  put(at::mm(y.t(), y) * 0.01);
}

void RandomTraining::gradients_in_between() {
  const at::Tensor x = rows_of_floats().detach().clone().requires_grad_();
  const at::Tensor y = at::mm(x, weight()).tanh().sum();
  const bool again = chance(50);
  const at::Tensor slope = torch::autograd::grad({y}, {x}, {}, again, again)[0];
  put(slope);
}

void RandomTraining::backward_now() {
  const at::Tensor x = rows_of_floats();
  if (!x.requires_grad()) return;
  x.square().mean().backward({}, /*retain_graph=*/true);
}

}  // namespace lowtide::torch_test
