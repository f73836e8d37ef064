// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "run/torch/chunks.h"

#include <algorithm>

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

// What the parts returned, put together.
class Results {
 public:
  void add(const torch::jit::Stack& part) {
    if (part.empty()) return;
    has_list_ = true;
    for (const c10::IValue& element : part.back().toListRef()) list_.push_back(element.toTensor());
  }
  void push_to(torch::jit::Stack& stack) {
    if (has_list_) stack.push_back(std::move(list_));
  }

 private:
  bool has_list_ = false;
  c10::List<at::Tensor> list_;
};

bool returns_lists_only(const c10::FunctionSchema& schema) {
  return schema.returns().empty() ||
         (schema.returns().size() == 1 &&
          schema.returns()[0].type()->kind() == c10::TypeKind::ListType);
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

  {
    Books::Lock lock(runtime.books());
    ++runtime.books().counters.chunked_ops;
  }
  Results results_so_far;
  for (std::size_t i = 0; i + 1 < points.size(); ++i) {
    torch::jit::Stack part = lists.part(points[i], points[i + 1]);
    Call(runtime, op, effects, keys, part).run();
    results_so_far.add(part);
  }
  stack.resize(stack.size() - arguments);
  results_so_far.push_to(stack);
  return true;
}

}  // namespace lowtide::run
