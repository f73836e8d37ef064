// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "train/named_tensor.h"

#include "lowtide/session.h"

namespace lowtide::train {
namespace {

class Held {
 public:
  Held(const at::Tensor& tensor, Session* session) : tensor_(tensor), session_(session) {
    if (session_ != nullptr) session_->hold(tensor_);
  }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  ~Held() {
    if (session_ != nullptr) session_->release(tensor_);
  }

 private:
  const at::Tensor tensor_;
  Session* const session_;
};

// "layer1.0.conv1" of "layer1.0.conv1.weight" and "velocity/layer1.0.conv1.weight". What belongs to
// the whole model is a layer of its own: "class_token".
std::string layer_of(const std::string& name) {
  const std::size_t start = name.find('/') + 1;  // 0 if there is none
  const std::size_t dot = name.rfind('.');
  const bool has_module = dot != std::string::npos && dot > start;
  return name.substr(start, has_module ? dot - start : std::string::npos);
}

}  // namespace

void with_bytes(const at::Tensor& tensor, Session* session,
                const std::function<void(std::span<const std::byte>)>& handle) {
  if (tensor.numel() == 0) return handle({});
  const at::Tensor source = tensor.detach();
  const Held held(source, session);
  const at::Tensor here = source.cpu().contiguous();
  // On the CPU a copy in logical order is the session's as well.
  const Held held_here(here, source.is_cpu() ? session : nullptr);
  handle({static_cast<const std::byte*>(here.const_data_ptr()), here.nbytes()});
}

void name_tensors(const State& state, Session& session) {
  for (const NamedTensor& item : state) session.name(item.tensor, item.name, layer_of(item.name));
}

}  // namespace lowtide::train
