// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "run/torch/chunks.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "lowtide/errors.h"
#include "run/torch/arguments.h"
#include "run/torch/call.h"

namespace lowtide::run {
namespace {

// The arguments of one multi-tensor call.
class Lists {
 public:
  Lists(const torch::jit::Stack& stack, std::size_t arguments)
      : arguments_(stack.end() - static_cast<std::ptrdiff_t>(arguments), stack.end()) {
    for (const c10::IValue& argument : arguments_) {
      if (!argument.isTensorList()) continue;
      const std::size_t size = argument.toListRef().size();
      if (size == 0) continue;
      if (length_ == 0) length_ = size;
      is_even_ = is_even_ && size == length_;
    }
  }

  // Lists of one length, so that they can be cut.
  bool can_be_cut() const { return is_even_ && length_ > 1; }
  std::size_t length() const { return length_; }

  std::int64_t entry_bytes(std::size_t entry) const {
    std::int64_t bytes = 0;
    for (const c10::IValue& argument : arguments_) {
      if (!argument.isTensorList() || argument.toListRef().empty()) continue;
      const at::Tensor& tensor = argument.toListRef()[entry].toTensor();
      if (has_plain_bytes(tensor)) bytes += static_cast<std::int64_t>(tensor.storage().nbytes());
    }
    return bytes;
  }

  // The arguments with lists cut to the entries [begin, end).
  torch::jit::Stack part(std::size_t begin, std::size_t end) const {
    torch::jit::Stack stack;
    for (const c10::IValue& argument : arguments_) {
      const bool is_cut = argument.isList() && argument.toListRef().size() == length_;
      stack.push_back(is_cut ? cut(argument, begin, end) : argument);
    }
    return stack;
  }

 private:
  static c10::IValue cut(const c10::IValue& argument, std::size_t begin, std::size_t end) {
    const auto elements = argument.toListRef();
    if (argument.isTensorList()) {
      c10::List<at::Tensor> list;
      for (std::size_t i = begin; i < end; ++i) list.push_back(elements[i].toTensor());
      return list;
    }
    c10::impl::GenericList list(argument.toList().elementType());
    for (std::size_t i = begin; i < end; ++i) list.push_back(elements[i]);
    return list;
  }

  std::vector<c10::IValue> arguments_;
  std::size_t length_ = 0;
  bool is_even_ = true;
};

// Null: the call was carried out. Else why there was no room for its arguments; its kernel was not
// called, and it can be tried with less of them.
std::exception_ptr call_if_it_fits(Runtime& runtime, const c10::OperatorHandle& op,
                                   const OpEffects& effects, c10::DispatchKeySet keys,
                                   torch::jit::Stack& stack) {
  Call call(runtime, op, effects, keys, stack);
  try {
    call.run();
  } catch (const OutOfMemory&) {
    if (call.has_begun()) throw;
    return std::current_exception();
  }
  return nullptr;
}

// Where the parts begin, and the end.
std::vector<std::size_t> cut_points(const Lists& lists, std::int64_t most_bytes) {
  std::vector<std::size_t> points = {0};
  std::int64_t bytes = 0;
  for (std::size_t i = 0; i < lists.length(); ++i) {
    const std::int64_t entry = lists.entry_bytes(i);
    if (bytes > 0 && bytes + entry > most_bytes) {
      points.push_back(i);
      bytes = 0;
    }
    bytes += entry;
  }
  points.push_back(lists.length());
  return points;
}

// One call of an op, carried out part by part.
class Parts {
 public:
  Parts(Runtime& runtime, const c10::OperatorHandle& op, const OpEffects& effects,
        c10::DispatchKeySet keys, const Lists& lists)
      : runtime_(runtime), op_(op), effects_(effects), keys_(keys), lists_(lists) {}

  // The entries [begin, end), in halves where they do not fit together.
  void run(std::size_t begin, std::size_t end) {
    if (run_at_once(begin, end)) return;
    run_in_halves(begin, end);
  }
  void run_in_halves(std::size_t begin, std::size_t end) {
    const std::size_t middle = begin + (end - begin) / 2;
    run(begin, middle);
    run(middle, end);
  }

  // What the parts returned, put together.
  void push_results(torch::jit::Stack& stack) {
    if (has_results_) stack.push_back(std::move(results_));
  }

 private:
  // False: there is no room for them all.
  bool run_at_once(std::size_t begin, std::size_t end) {
    torch::jit::Stack part = lists_.part(begin, end);
    if (const auto shortage = call_if_it_fits(runtime_, op_, effects_, keys_, part)) {
      if (end - begin == 1) std::rethrow_exception(shortage);
      return false;
    }
    if (part.empty()) return true;
    has_results_ = true;
    for (const c10::IValue& element : part.back().toListRef()) {
      results_.push_back(element.toTensor());
    }
    return true;
  }

  Runtime& runtime_;
  const c10::OperatorHandle& op_;
  const OpEffects& effects_;
  const c10::DispatchKeySet keys_;
  const Lists& lists_;
  bool has_results_ = false;
  c10::List<at::Tensor> results_;
};

bool returns_lists_only(const c10::FunctionSchema& schema) {
  return schema.returns().empty() ||
         (schema.returns().size() == 1 &&
          schema.returns()[0].type()->kind() == c10::TypeKind::ListType);
}

void count_as_chunked(Runtime& runtime) {
  Books::Lock lock(runtime.books());
  ++runtime.books().counters.chunked_ops;
}

}  // namespace

bool call_in_chunks(Runtime& runtime, const c10::OperatorHandle& op, const OpEffects& effects,
                    c10::DispatchKeySet keys, torch::jit::Stack& stack) {
  const std::int64_t budget = runtime.books().device().ledger().budget_bytes();
  if (budget == engine::Ledger::kNoBudget || !returns_lists_only(op.schema())) return false;
  const std::size_t arguments = op.schema().arguments().size();
  const Lists lists(stack, arguments);
  if (!lists.can_be_cut()) return false;
  std::int64_t total = 0;
  for (std::size_t i = 0; i < lists.length(); ++i) total += lists.entry_bytes(i);
  // Whatever is there and whatever is away: steps should all run the same ops, so that a plan made
  // from one holds for the others.
  if (total <= budget / 4) return false;
  const std::vector<std::size_t> points = cut_points(lists, budget / 8);
  if (points.size() <= 2) return false;

  count_as_chunked(runtime);
  Parts parts(runtime, op, effects, keys, lists);
  for (std::size_t i = 0; i + 1 < points.size(); ++i) parts.run(points[i], points[i + 1]);
  stack.resize(stack.size() - arguments);
  parts.push_results(stack);
  return true;
}

void call_as_it_fits(Runtime& runtime, const c10::OperatorHandle& op, const OpEffects& effects,
                     c10::DispatchKeySet keys, torch::jit::Stack& stack) {
  const auto shortage = call_if_it_fits(runtime, op, effects, keys, stack);
  if (!shortage) return;
  const std::size_t arguments = op.schema().arguments().size();
  const Lists lists(stack, arguments);
  if (!lists.can_be_cut() || !returns_lists_only(op.schema())) std::rethrow_exception(shortage);
  count_as_chunked(runtime);
  Parts parts(runtime, op, effects, keys, lists);
  parts.run_in_halves(0, lists.length());
  stack.resize(stack.size() - arguments);
  parts.push_results(stack);
}

}  // namespace lowtide::run
