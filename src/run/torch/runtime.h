// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <mutex>
#include <shared_mutex>
#include <string>

#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/stack.h>

#include "run/torch/books.h"
#include "run/torch/capture.h"
#include "run/torch/effects.h"
#include "run/torch/guide.h"
#include "run/torch/op_timer.h"
#include "run/torch/restorer.h"

namespace lowtide::run {

// Everything that manages one device. There is one for each device that ever had a session, and it
// is never destroyed: blocks and threads may outlive any session.
class Runtime {
 public:
  Runtime(engine::Device& device, c10::Device torch_device);
  Runtime(const Runtime&) = delete;
  Runtime& operator=(const Runtime&) = delete;

  // From here on the ledger asks these books for room.
  void start();
  // Everything is brought back and forgotten. Throws OutOfMemory; then what could not be brought
  // back stays in the books.
  void stop();

  // In a forked process, which has only one of our threads: memory is handed out without a cap.
  void abandon();

  // Whether ops are let pass just now.
  bool is_aside() const { return is_aside_.load(std::memory_order_acquire); }
  // Carries out one op under management; the interceptor calls it.
  void call(const c10::OperatorHandle& op, c10::DispatchKeySet keys, torch::jit::Stack& stack);

  // What is wanted of a step.
  struct StepWishes {
    // A plan guides it, if there is one.
    bool is_guided = false;
    // Its waits for what the plan fetches are measured.
    bool is_timed = false;
    // It is written down, unless a plan guides it.
    bool is_captured = false;
  };
  // A step begins. Not needed for steps of which nothing is wanted.
  void begin_step(const StepWishes& wishes);
  void end_step();
  // No plan guides the step under way from here on, nor any other.
  void stop_guiding();
  // Ops are let pass from here on and only the gate watches, until come_back(). False: something is
  // away or in use, so they must not.
  bool step_aside();
  // Waits for the ops of other threads that are being let pass: what they use could be evicted.
  void come_back();
  // Brings the tensor back and keeps it, until release(); till then it may be written by hand.
  void hold(const at::Tensor& tensor);
  void release(const at::Tensor& tensor);
  // Brings it back and keeps it where it is for good. Whoever writes by the address asks for it
  // each time, or holds the tensor.
  void keep_address(const at::Tensor& tensor);
  // See Books.
  bool is_in_use(const at::Tensor& tensor);
  // See Books.
  void begin_opaque();
  void end_opaque();
  // What captured steps call the tensor's storage, as long as it lives.
  void label(const at::Tensor& tensor, Label label);
  // Everything is on the device again, and nothing is remembered. Throws OutOfMemory.
  void bring_all_back();

  // The ops from start to stop are written down.
  void start_capture();
  void stop_capture();
  bool is_capturing() const { return capturing_; }
  // What was captured is not wanted any more. Requires: the books' lock.
  void drop_capture(Books::Lock& lock);
  // What was written down last.
  const Capture& last_capture() const { return capture_; }
  // The same as a trace; see there.
  Trace captured(const std::string& name) { return capture_.trace(name, timer_); }
  // Requires: the books' lock, and a capture under way.
  Capture& capture() { return capture_; }

  Books& books() { return books_; }
  c10::Device torch_device() const { return books_.torch_device(); }
  Restorer& restorer() { return restorer_; }
  OpTimer& timer() { return timer_; }
  Guide& guide() { return guide_; }

 private:
  void hold_as(const at::Tensor& tensor, bool is_open);
  void open_to_writes(const ValueP& value);
  // False: it is not one for a QuietCall, and nothing was done.
  bool call_quietly(const c10::OperatorHandle& op, const OpEffects& effects,
                    c10::DispatchKeySet keys, torch::jit::Stack& stack);
  // False: nobody has stepped aside, and nothing was done.
  bool let_pass(const c10::OperatorHandle& op, c10::DispatchKeySet keys, torch::jit::Stack& stack);
  void note_results(const c10::OperatorHandle& op, const torch::jit::Stack& stack);

  Books books_;
  Restorer restorer_{books_};
  OpTimer timer_;
  Guide guide_{books_, restorer_};
  Capture capture_;
  std::atomic<bool> capturing_{false};
  std::atomic<bool> is_aside_{false};
  // Shared: an op is being let pass. Alone: we come back; the other mutex is held meanwhile, so
  // that no further ones begin to pass.
  std::shared_mutex passing_;
  std::mutex way_is_open_;
};

}  // namespace lowtide::run
