// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#ifndef LOWTIDE_LOWTIDE_H_
#define LOWTIDE_LOWTIDE_H_

// Sessions (lowtide/session.h) and decompositions for other languages: plain C functions of
// liblowtide.so, which the Python package calls through ctypes. The process must have loaded the
// torch that the library was built with.
//
// Every function that can fail returns a lowtide_status; lowtide_error() says what was wrong with
// the last call of this thread that failed. Texts that are given out belong to the caller, who
// calls lowtide_free(). A session is closed by the thread that opened it, the innermost first.

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct lowtide_session lowtide_session;

typedef enum lowtide_status {
  LOWTIDE_OK = 0,
  LOWTIDE_INVALID_INPUT = 1,
  LOWTIDE_OUT_OF_MEMORY = 2,
  LOWTIDE_DEVICE_ERROR = 3,
  LOWTIDE_IO_ERROR = 4,
  LOWTIDE_INTERNAL_ERROR = 5
} lowtide_status;

// "0.1.0", and the torch that the library was built with: "2.11".
const char* lowtide_version(void);
const char* lowtide_torch_version(void);
// Whether the library can manage GPUs; else it was built for the processor only.
int lowtide_is_built_for_gpus(void);
const char* lowtide_error(void);
void lowtide_free(char* text);

// `options`: a JSON object with the names of SessionOptions; what is left out keeps its default.
lowtide_status lowtide_open(const char* options, lowtide_session** session);
lowtide_status lowtide_close(lowtide_session* session);

// A step ends here; `failed`: by an exception.
lowtide_status lowtide_end_step(lowtide_session* session, int failed);

// Keeps a storage on the device; until it is released, it may be written by hand. `storage`: a
// c10::StorageImpl, in Python `tensor.untyped_storage()._cdata`; `tensor`: a c10::TensorImpl,
// `tensor._cdata`.
lowtide_status lowtide_hold_tensor(lowtide_session* session, void* tensor);
lowtide_status lowtide_release_tensor(lowtide_session* session, void* tensor);
lowtide_status lowtide_hold_storage(lowtide_session* session, void* storage);
lowtide_status lowtide_release_storage(lowtide_session* session, void* storage);

// Brings it back and keeps it where it is for good, in the innermost session: somebody asked for
// its address. Whoever writes by the address later asks for it anew, or holds it.
lowtide_status lowtide_keep_tensor_address(void* tensor);
lowtide_status lowtide_keep_storage_address(void* storage);

// Around code that goes around torch's dispatcher; see Session::begin_opaque.
lowtide_status lowtide_begin_opaque(lowtide_session* session);
lowtide_status lowtide_end_opaque(lowtide_session* session);

// What captured steps call the tensor.
lowtide_status lowtide_name(lowtide_session* session, void* tensor, const char* name,
                            const char* layer);

// Whether the ops of this thread are managed; gives what was the case before.
int lowtide_set_thread_managed(int managed);
// Whether what the ops of this thread make stays on the device for good, for code that will use it
// around torch's dispatcher; gives what was the case before.
int lowtide_keep_what_is_made(int keep);
// Everything is on the device again, if the budget has room for that.
lowtide_status lowtide_bring_all_back(void);
// Whether an op that is under way has the tensor among its arguments, or has made it and not given
// it out yet: until that op ends, it stays where it is.
int lowtide_is_in_use(void* tensor);
// To be called in a forked process: its ops pass, and nothing is capped there.
void lowtide_after_fork(void);

// A JSON object with the names of SessionStats.
lowtide_status lowtide_stats(lowtide_session* session, char** json);
lowtide_status lowtide_reset_peaks(lowtide_session* session);
// The step that begins with the next lowtide_end_step() is written down; when it has ended, it is
// there as a trace.
lowtide_status lowtide_capture_next_step(lowtide_session* session);
lowtide_status lowtide_captured(lowtide_session* session, const char* name, char** json);

// The captured step, the plan that was carried out if there was one, and the statistics, for
// `lowtide report`; and its page. `seconds`: how long the page may look for other plans.
lowtide_status lowtide_run_record(lowtide_session* session, const char* title, char** json);
lowtide_status lowtide_report_page(const char* run_record, double seconds, char** html);

// Weights of convolutions and linear layers as products of smaller ones (lowtide/decompose.h).
// `weight`: a c10::TensorImpl. A form is a text such as "svd 32" or "tucker2 16x24 reconstructed".

// The form that a rule finds. `method`: "svd", "tucker2", "cp3", "cp4", or "auto", which is svd
// where that is possible, and else tucker2; `rank`: as `lowtide decompose --rank` takes it, but for
// "total=".
lowtide_status lowtide_choose_form(void* weight, const char* method, const char* rank, char** form);
// Whether nothing of the weight stands out of random numbers, as of one that nobody has trained.
lowtide_status lowtide_is_noise(void* weight, int* is_noise);
// A JSON array with the name and the sizes of each factor that a weight of these sizes has then.
lowtide_status lowtide_factor_shapes(const char* form, const int64_t* sizes, int dimensions,
                                     char** json);
// Computes the factors, and copies them into tensors of these sizes. `relative_error`: the norm of
// the difference over that of the weight.
lowtide_status lowtide_factorise(void* weight, const char* form, void* const* factors, int count,
                                 double* relative_error);

#ifdef __cplusplus
}
#endif

#endif  // LOWTIDE_LOWTIDE_H_
