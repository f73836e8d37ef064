// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include <cstdlib>
#include <string>

#include <ATen/core/Tensor.h>
#include <torch/headeronly/version.h>

#include "capi/calls.h"
#include "capi/options.h"
#include "lowtide/lowtide.h"
#include "lowtide/session.h"
#include "report/page.h"
#include "report/run_record.h"
#include "run/torch/interceptor.h"
#include "run/torch/runtime.h"
#include "session/devices.h"
#include "session/run_record.h"
#include "trace/json.h"

struct lowtide_session : lowtide::Session {
  using lowtide::Session::Session;
};

namespace {

using lowtide::Session;
using lowtide::capi::copy_of;
using lowtide::capi::guarded;
using lowtide::capi::last_error;
using lowtide::capi::tensor_at;

// A tensor over a storage, made without the dispatcher: nobody shall see an op.
at::Tensor over_storage(void* impl) {
  c10::Storage storage(
      c10::intrusive_ptr<c10::StorageImpl>::reclaim_copy(static_cast<c10::StorageImpl*>(impl)));
  const c10::DispatchKey key =
      storage.device().is_cuda() ? c10::DispatchKey::CUDA : c10::DispatchKey::CPU;
  return at::detail::make_tensor<c10::TensorImpl>(std::move(storage), c10::DispatchKeySet(key),
                                                  caffe2::TypeMeta::Make<std::uint8_t>());
}

lowtide_status keep_address(const at::Tensor& tensor) {
  return guarded([&] {
    if (lowtide::run::Runtime* runtime = lowtide::run::active_runtime()) {
      runtime->keep_address(tensor);
    }
  });
}

}  // namespace

const char* lowtide_version() { return LT_VERSION; }
const char* lowtide_torch_version() {
  static const std::string version =
      std::to_string(TORCH_VERSION_MAJOR) + "." + std::to_string(TORCH_VERSION_MINOR);
  return version.c_str();
}
int lowtide_is_built_for_gpus() { return lowtide::session::is_built_for_gpus() ? 1 : 0; }
const char* lowtide_error() { return last_error().c_str(); }
void lowtide_free(char* text) { std::free(text); }

lowtide_status lowtide_open(const char* options, lowtide_session** session) {
  *session = nullptr;
  return guarded([&] {
    *session = new lowtide_session(lowtide::capi::parse_options(options));
    // Who comes by this door is not C++: an error of ours would reach it as one of unknown kind.
    lowtide::run::translate_errors(true);
  });
}

lowtide_status lowtide_close(lowtide_session* session) {
  return guarded([&] { delete session; });
}

lowtide_status lowtide_end_step(lowtide_session* session, int failed) {
  return guarded([&] { failed != 0 ? session->abandon_step() : session->end_step(); });
}

lowtide_status lowtide_hold_tensor(lowtide_session* session, void* tensor) {
  return guarded([&] { session->hold(tensor_at(tensor)); });
}
lowtide_status lowtide_release_tensor(lowtide_session* session, void* tensor) {
  return guarded([&] { session->release(tensor_at(tensor)); });
}
lowtide_status lowtide_hold_storage(lowtide_session* session, void* storage) {
  return guarded([&] { session->hold(over_storage(storage)); });
}
lowtide_status lowtide_release_storage(lowtide_session* session, void* storage) {
  return guarded([&] { session->release(over_storage(storage)); });
}

lowtide_status lowtide_keep_tensor_address(void* tensor) { return keep_address(tensor_at(tensor)); }
lowtide_status lowtide_keep_storage_address(void* storage) {
  return keep_address(over_storage(storage));
}

lowtide_status lowtide_begin_opaque(lowtide_session* session) {
  return guarded([&] { session->begin_opaque(); });
}
lowtide_status lowtide_end_opaque(lowtide_session* session) {
  return guarded([&] { session->end_opaque(); });
}

lowtide_status lowtide_name(lowtide_session* session, void* tensor, const char* name,
                            const char* layer) {
  return guarded([&] { session->name(tensor_at(tensor), name, layer); });
}

int lowtide_set_thread_managed(int managed) {
  const bool before = lowtide::run::is_thread_managed();
  lowtide::run::set_thread_managed(managed != 0);
  return before ? 1 : 0;
}

int lowtide_keep_what_is_made(int keep) {
  return lowtide::run::keep_what_is_made(keep != 0) ? 1 : 0;
}

lowtide_status lowtide_bring_all_back() {
  return guarded([] {
    if (lowtide::run::Runtime* runtime = lowtide::run::active_runtime()) runtime->bring_all_back();
  });
}

int lowtide_is_in_use(void* tensor) {
  lowtide::run::Runtime* runtime = lowtide::run::active_runtime();
  return runtime == nullptr || runtime->is_in_use(tensor_at(tensor)) ? 1 : 0;
}

void lowtide_after_fork() {
  lowtide::run::set_thread_managed(false);
  if (lowtide::run::Runtime* runtime = lowtide::run::active_runtime()) runtime->abandon();
  lowtide::run::set_active_runtime(nullptr);
}

lowtide_status lowtide_stats(lowtide_session* session, char** json) {
  return guarded(
      [&] { *json = copy_of(lowtide::session::statistics_json(session->stats()).dump()); });
}
lowtide_status lowtide_reset_peaks(lowtide_session* session) {
  return guarded([&] { session->reset_peaks(); });
}
lowtide_status lowtide_capture_next_step(lowtide_session* session) {
  return guarded([&] { session->capture_next_step(); });
}
lowtide_status lowtide_captured(lowtide_session* session, const char* name, char** json) {
  return guarded([&] { *json = copy_of(lowtide::trace::print_json(session->captured(name))); });
}
lowtide_status lowtide_run_record(lowtide_session* session, const char* title, char** json) {
  return guarded([&] { *json = copy_of(session->run_record(title)); });
}
lowtide_status lowtide_report_page(const char* run_record, double seconds, char** html) {
  return guarded([&] {
    *html =
        copy_of(lowtide::report::page_of(lowtide::report::parse_run_record(run_record), seconds));
  });
}
