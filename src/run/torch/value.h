// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <ATen/core/Generator.h>
#include <ATen/core/TensorBody.h>
#include <ATen/core/dispatch/Dispatcher.h>
#include <ATen/core/ivalue.h>
#include <c10/core/Storage.h>
#include <c10/util/SmallVector.h>

#include "run/engine/host_cache.h"
#include "run/torch/settings.h"

// What the books know: storages, the values they hold, and the ops that made those.

namespace lowtide::run {

class Books;
struct Cell;
struct Record;
struct Value;
using ValueP = std::shared_ptr<Value>;
using RecordP = std::shared_ptr<Record>;

enum class Residency : std::uint8_t {
  kResident,
  // No bytes anywhere; its producer makes it again.
  kDropped,
  // Its bytes lie in `copy` alone: in host memory or in the spill file.
  kMoved,
};

// The contents of a storage between two writes. All members are guarded by the books' lock, and
// values are destroyed under it.
//
// A value whose storage died or was overwritten is a ghost: it matters only as an input of replays,
// and when a replay brings it back, its bytes lie in `temporary`.
struct Value {
  explicit Value(Books& owner) : books(owner) {}
  ~Value();
  Value(const Value&) = delete;
  Value& operator=(const Value&) = delete;

  bool is_source() const { return producer == nullptr; }
  bool is_ghost() const { return place == nullptr; }
  bool is_resident() const { return residency == Residency::kResident; }

  Books& books;
  // The storage that holds it now; null for a ghost.
  Cell* place = nullptr;
  c10::Storage temporary;
  std::int64_t bytes = 0;
  Residency residency = Residency::kResident;
  // A copy outside of the device that is equal to the value, also while it is resident; or empty.
  engine::HostCopy copy;
  // Null: a source.
  RecordP producer;
  // Ops that read it and would need it for a replay.
  c10::SmallVector<std::weak_ptr<Record>, 2> readers;
  // Ops under way that need it to stay.
  std::int32_t pins = 0;
  std::uint64_t last_use = 0;
  double last_use_seconds = 0;
  // In Books::candidates_; -1 when not there.
  std::int32_t candidate = -1;
  // Its element among the classes of dropped values, and the seconds it stands for there; -1 when
  // it is not dropped.
  std::int32_t dropped_class = -1;
  double dropped_seconds = 0;
  // What dropping it was found to cost, and after how many drops; see victims.cpp.
  double drop_seconds = 0;
  std::int64_t drop_seconds_known_at = -(std::int64_t{1} << 40);
  // Made by an allocation without contents, and not written since.
  bool is_blank = false;
  // The copy was begun so that the bytes can go when room is needed.
  bool is_leaving = false;
  // Resident, but its bytes are still on their way: no work may use them before Books::arrive().
  bool is_arriving = false;
  // Among the actions of the plan that fetched them; -1: none did.
  std::int32_t fetched_by = -1;
};

// What a storage is to the user.
struct Label {
  std::string name;
  // The part of the model it belongs to; may be empty.
  std::string layer;
};

// One storage that torch has and the books know.
struct Cell {
  Cell(Books& owner, c10::StorageImpl* storage)
      : books(owner),
        impl(storage),
        weak(c10::intrusive_ptr<c10::StorageImpl>::reclaim_copy(storage)) {}

  Books& books;
  c10::StorageImpl* impl;
  // Keeps the address from being used again while the cell is there.
  c10::weak_intrusive_ptr<c10::StorageImpl> weak;
  ValueP value;
  // By the user, or for good.
  std::int32_t holds = 0;
  // Those of them under which it may be written by hand at any time.
  std::int32_t open_holds = 0;
  // The step in which the books first saw it.
  std::uint64_t born_step = 0;
  // Where its bytes were when we last looked: tells when torch put others there.
  void* data = nullptr;
  // The stream they were allocated on.
  void* stream = nullptr;
  // Its number in the step that is guided; -1 without one. The Guide's.
  std::int32_t guided_storage = -1;
  // They lie in the device's overflow.
  bool is_in_overflow = false;
  // Null: the user said nothing of it.
  std::unique_ptr<const Label> label{};
};

// One tensor among the arguments of a recorded op: which value, seen through which geometry.
struct Ref {
  ValueP value;
  // A source must outlive the replays that read it. Only sources: a strong reference to anything
  // else would change autograd's decisions to reuse gradients.
  c10::Storage hold;
  c10::SmallVector<std::int64_t, 4> sizes;
  c10::SmallVector<std::int64_t, 4> strides;
  std::int64_t offset = 0;
  caffe2::TypeMeta dtype;
  c10::DispatchKeySet keys;
  bool is_wrapped_number = false;
  // The op writes it, so a replay works on a copy.
  bool is_written = false;
  // What it holds does not matter to the results: a replay gets a block of its own.
  bool is_scratch = false;
  // Without a value: a tiny tensor that is not in the books, as it was at the time of the call; or,
  // where `keys` is empty, a list entry without a tensor.
  std::vector<std::byte> copy;
  c10::Device copy_device = c10::kCPU;
};

// Where the tensors of one argument are among Record::refs.
struct ArgumentRefs {
  enum class Form : std::uint8_t { kTensor, kList, kOptionalList };
  std::uint16_t argument = 0;
  Form form = Form::kTensor;
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};

// The state of a generator before a random op.
struct RandomState {
  at::Generator generator;
  at::Tensor state;
};

// One op as it was called, kept so that it can be carried out again.
struct Record {
  Record(Books& owner, const c10::OperatorHandle& op);
  ~Record();
  Record(const Record&) = delete;
  Record& operator=(const Record&) = delete;

  Books& books;
  c10::OperatorHandle handle;
  c10::DispatchKeySet keys;
  SettingsP settings;
  // As on the stack, without the tensors of `refs`.
  std::vector<c10::IValue> arguments;
  c10::SmallVector<ArgumentRefs, 4> argument_refs;
  c10::SmallVector<Ref, 3> refs;
  // What it returned, tensor by tensor with lists laid out flat; null for what is no new value.
  c10::SmallVector<std::weak_ptr<Value>, 3> outputs;
  // Values it wrote in place: the index of the Ref, and the value after the write.
  c10::SmallVector<std::pair<std::uint32_t, std::weak_ptr<Value>>, 1> written;
  // Of an op that may draw random numbers.
  std::vector<RandomState> random;
  double seconds = 0;
  // With what must be computed before it, because the program has released it since.
  double replay_seconds = 0;
  // How many replays in a row bring its results back at most.
  std::uint32_t depth = 0;
  // Its op in the step that is guided; -1 without one.
  std::int32_t tick = -1;
  // Counted by the books.
  bool is_entered = false;
};

}  // namespace lowtide::run
