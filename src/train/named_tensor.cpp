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

}  // namespace lowtide::train
