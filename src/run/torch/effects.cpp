// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "run/torch/effects.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <deque>
#include <memory>
#include <mutex>
#include <string_view>
#include <unordered_map>

namespace lowtide::run {
namespace {

using std::string_view;

// Ops that write arguments without an annotation, or whose annotated write is a side effect of what
// they return. Each row: op, arguments, and the flag that must be true for the write to happen.
struct HiddenWrites {
  string_view op;
  std::array<string_view, 2> arguments;
  string_view flag;
};
constexpr std::array<string_view, 2> kRunning = {"running_mean", "running_var"};
constexpr HiddenWrites kHiddenWrites[] = {
    {"aten::native_batch_norm", kRunning, "training"},
    {"aten::cudnn_batch_norm", kRunning, "training"},
    {"aten::miopen_batch_norm", kRunning, "training"},
    {"aten::_batch_norm_impl_index", kRunning, "training"},
    {"aten::batch_norm", kRunning, "training"},
    {"aten::instance_norm", kRunning, "use_input_stats"},
    {"aten::_native_batch_norm_legit", kRunning, "training"},
    {"aten::_batch_norm_with_update", kRunning, ""},
    {"aten::batch_norm_update_stats", kRunning, ""},
    {"aten::batch_norm_gather_stats", kRunning, ""},
    {"aten::batch_norm_gather_stats_with_counts", kRunning, ""},
};

// Ops that do not give the same bits again, whatever is put back.
constexpr string_view kUnreplayable[] = {
    // The state of their dropout, and the room they reserve for backward, lie in tensors that they
    // change without saying so.
    "aten::_cudnn_rnn",
    "aten::_cudnn_rnn_backward",
    "aten::miopen_rnn",
    "aten::miopen_rnn_backward",
    // Hand out memory of the host.
    "aten::_pin_memory",
    "aten::pin_memory",
    // Part of what it returns is never written.
    "aten::_ctc_loss",
    // Its driver gelsy, the one that is taken unless another is named, reads pivots that torch
    // leaves
    // uninitialised: plain runs differ from each other too.
    "aten::linalg_lstsq",
};

// Annotated as writes, but no byte changes.
constexpr string_view kMetadataOps[] = {
    "aten::detach_",
    "aten::requires_grad_",
    "aten::retain_grad",
    "aten::squeeze_",
    "aten::unsqueeze_",
    "aten::t_",
    "aten::transpose_",
    "aten::swapaxes_",
    "aten::swapdims_",
    "aten::as_strided_",
    "aten::rename_",
    "aten::set_data",
    "aten::_fw_primal",
    "aten::is_same_size",
    "aten::_version",
    "aten::output_nr",
    "aten::is_leaf",
    "aten::_backward",
    "aten::_assert_async",
    "aten::_debug_has_internal_overlap",
    "aten::sym_size",
    "aten::sym_stride",
    "aten::sym_numel",
    "aten::sym_storage_offset",
    "aten::_has_same_storage_numel",
};

constexpr string_view kStorageOps[] = {
    "aten::set_",
    "aten::resize_",
    "aten::resize_as_",
    "aten::resize_sparse_",
    "inductor::resize_storage_bytes_",
    // Of torch 2.15: `x.data = y` inside a compiled graph.
    "aten::shallow_copy_data_",
};

constexpr string_view kBlankFactories[] = {
    "aten::empty",
    "aten::empty_like",
    "aten::empty_strided",
    "aten::new_empty",
    "aten::new_empty_strided",
    "aten::empty_permuted",
    "aten::empty_quantized",
    "aten::_empty_affine_quantized",
    "aten::_empty_per_channel_affine_quantized",
};

constexpr string_view kFactories[] = {
    "aten::zeros",
    "aten::zeros_like",
    "aten::ones",
    "aten::ones_like",
    "aten::full",
    "aten::full_like",
    "aten::new_zeros",
    "aten::new_ones",
    "aten::new_full",
    "aten::arange",
    "aten::linspace",
    "aten::logspace",
    "aten::eye",
    "aten::rand",
    "aten::rand_like",
    "aten::randn",
    "aten::randn_like",
    "aten::randint",
    "aten::randint_like",
    "aten::randperm",
    "aten::scalar_tensor",
    "aten::from_file",
    "aten::tril_indices",
    "aten::triu_indices",
    "aten::_efficientzerotensor",
};

// In-place ops after which nothing of the old contents is left. `.out` overloads are so by nature.
constexpr string_view kOverwriting[] = {
    "aten::copy_",      "aten::fill_",       "aten::zero_",   "aten::bernoulli_",
    "aten::uniform_",   "aten::normal_",     "aten::random_", "aten::exponential_",
    "aten::geometric_", "aten::log_normal_", "aten::cauchy_",
};

// Their tensors are used around the dispatcher afterwards: cuDNN's packed weights by address,
// collectives by other threads, sparse tensors and packed weights from inside another object.
constexpr string_view kKeeping[] = {
    // Another stream uses the bytes from here on, and nobody says when it ends.
    "aten::record_stream",
    "aten::_cudnn_rnn_flatten_weight",
    "aten::_sparse_coo_tensor_unsafe",
    "aten::_sparse_coo_tensor_with_dims_and_tensors",
    "aten::_sparse_compressed_tensor_unsafe",
    "aten::_cudnn_init_dropout_state",
    "aten::_nested_tensor_from_tensor_list",
    "aten::_nested_view_from_buffer",
    "aten::_nested_view_from_jagged",
    "aten::mkldnn_reorder_conv2d_weight",
    "aten::mkldnn_reorder_conv3d_weight",
};
constexpr string_view kKeepingNamespaces[] = {
    "c10d::",      "_c10d_functional::", "fsdp::",    "symm_mem::",
    "quantized::", "mkldnn_prepacked::", "inductor::"};

// Torch's own. Libraries of others seldom say that an operator of theirs draws random numbers
// (those of attention with dropout, say), and may annotate as a view what copies now and then.
constexpr string_view kOwnNamespaces[] = {
    "aten::",       "prim::",    "prims::",    "rngprims::",         "c10d::",
    "mkldnn::",     "onednn::",  "inductor::", "c10d_functional::",  "_c10d_functional::",
    "sparse::",     "fsdp::",    "symm_mem::", "mkldnn_prepacked::", "quantized::",
    "_quantized::", "profiler::"};

template <class Range>
bool contains(const Range& range, string_view name) {
  return std::find(std::begin(range), std::end(range), name) != std::end(range);
}

bool starts_with_any(string_view name, const auto& prefixes) {
  return std::any_of(std::begin(prefixes), std::end(prefixes),
                     [name](string_view prefix) { return name.starts_with(prefix); });
}

int argument_named(const c10::FunctionSchema& schema, string_view name) {
  const auto& arguments = schema.arguments();
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].name() == name) return static_cast<int>(i);
  }
  return -1;
}

bool is_annotated_write(const c10::Argument& argument) {
  return argument.alias_info() != nullptr && argument.alias_info()->isWrite();
}

bool has_annotated_write(const c10::FunctionSchema& schema) {
  return std::any_of(schema.arguments().begin(), schema.arguments().end(), is_annotated_write);
}

// A name that says "in place", or nothing returned, and no annotation: it writes whatever it likes.
bool writes_unannounced(const c10::FunctionSchema& schema) {
  if (has_annotated_write(schema)) return false;
  const string_view name = schema.name();
  return name.ends_with('_') ? !name.ends_with("__") : schema.returns().empty();
}

bool is_annotated_view(const c10::FunctionSchema& schema) {
  return !has_annotated_write(schema) &&
         std::any_of(
             schema.arguments().begin(), schema.arguments().end(),
             [](const c10::Argument& argument) { return argument.alias_info() != nullptr; });
}

// Composites, which come here whole where autograd is passed by (in inference mode), may be
// annotated as views and copy all the same (`reshape`, `contiguous`, `to`), or read where to cut
// (`tensor_split`).
bool only_looks(const c10::OperatorHandle& op) {
  return is_annotated_view(op.schema()) &&
         !op.hasKernelForDispatchKey(c10::DispatchKey::CompositeImplicitAutograd);
}

void find_argument_effects(const c10::FunctionSchema& schema, OpEffects& effects) {
  const bool all_written = !effects.is_metadata && writes_unannounced(schema);
  for (const c10::Argument& argument : schema.arguments()) {
    const bool writes = all_written || (!effects.is_metadata && is_annotated_write(argument));
    effects.arguments.push_back(writes ? Effect::kWrites : Effect::kReads);
  }
  for (const HiddenWrites& row : kHiddenWrites) {
    if (row.op != effects.name) continue;
    for (const string_view argument : row.arguments) {
      const int index = argument_named(schema, argument);
      if (index >= 0) effects.arguments[static_cast<std::size_t>(index)] = Effect::kHiddenWrite;
    }
    effects.hidden_write_flag = argument_named(schema, row.flag);
  }
}

bool has_dictionaries(const c10::FunctionSchema& schema) {
  const auto is_dictionary = [](const c10::Argument& argument) {
    return argument.type()->kind() == c10::TypeKind::DictType;
  };
  return std::any_of(schema.arguments().begin(), schema.arguments().end(), is_dictionary) ||
         std::any_of(schema.returns().begin(), schema.returns().end(), is_dictionary);
}

bool can_be_replayed(const c10::FunctionSchema& schema, const OpEffects& effects) {
  return !contains(kUnreplayable, effects.name) && !effects.keeps_arguments &&
         !effects.changes_storages && !schema.is_vararg();
}

bool touches_no_bytes(const c10::OperatorHandle& op, const OpEffects& effects) {
  if (effects.changes_storages) return false;
  return op.hasTag(at::Tag::inplace_view) || contains(kMetadataOps, effects.name);
}

OpEffects find_effects(const c10::OperatorHandle& op) {
  const c10::FunctionSchema& schema = op.schema();
  OpEffects effects;
  effects.name = schema.name();
  effects.changes_storages = contains(kStorageOps, effects.name);
  effects.keeps_arguments =
      contains(kKeeping, effects.name) || starts_with_any(effects.name, kKeepingNamespaces);
  effects.is_metadata = touches_no_bytes(op, effects);
  effects.is_foreign = !starts_with_any(effects.name, kOwnNamespaces);
  effects.is_view = !effects.is_foreign && only_looks(op);
  effects.is_random = effects.is_foreign || op.hasTag(at::Tag::nondeterministic_seeded);
  effects.obeys_precision = !op.hasTag(at::Tag::pointwise) && !effects.is_view;
  effects.has_dictionaries = has_dictionaries(schema);
  effects.is_blank_factory = contains(kBlankFactories, effects.name);
  effects.is_factory = effects.is_blank_factory || contains(kFactories, effects.name);
  effects.overwrites = contains(kOverwriting, effects.name) || op.hasTag(at::Tag::out_variant) ||
                       schema.overload_name() == "out" || schema.overload_name().ends_with("_out");
  constexpr string_view kMultiTensor[] = {"aten::_foreach_", "aten::_fused_",
                                          "aten::_amp_foreach_"};
  effects.is_multi_tensor = starts_with_any(effects.name, kMultiTensor);
  find_argument_effects(schema, effects);
  effects.is_replayable = can_be_replayed(schema, effects);
  return effects;
}

}  // namespace

Effect OpEffects::effect(std::size_t argument, const torch::jit::Stack& stack,
                         std::size_t first) const {
  const Effect effect = arguments[argument];
  if (effect != Effect::kHiddenWrite || hidden_write_flag < 0) return effect;
  const c10::IValue& flag = stack[first + static_cast<std::size_t>(hidden_write_flag)];
  return flag.isBool() && !flag.toBool() ? Effect::kReads : effect;
}

namespace {

// Of every operator that was asked for. Never destroyed: threads of autograd may outlive static
// objects, and whoever was given effects keeps them.
class KnownEffects {
 public:
  static KnownEffects& all() {
    static KnownEffects& known = *new KnownEffects;
    return known;
  }

  const OpEffects& of(const c10::OperatorHandle& op) {
    const std::lock_guard lock(mutex_);
    const OpEffects*& slot = by_name_[op.operator_name()];
    if (slot == nullptr) slot = &effects_.emplace_back(find_effects(op));
    return *slot;
  }
  void forget(const c10::OperatorName& name) {
    const std::lock_guard lock(mutex_);
    by_name_.erase(name);
    generation_.fetch_add(1, std::memory_order_release);
  }
  // Another one once something was forgotten.
  std::uint64_t generation() const { return generation_.load(std::memory_order_acquire); }

 private:
  // Libraries of operators come and go (in notebooks, say): the next operator of that name, or at
  // that address, may be another one.
  struct Forgetter final : c10::OpRegistrationListener {
    explicit Forgetter(KnownEffects& its) : known(its) {}
    void onOperatorRegistered(const c10::OperatorHandle&) override {}
    void onOperatorDeregistered(const c10::OperatorHandle& op) override {
      known.forget(op.operator_name());
    }
    KnownEffects& known;
  };

  std::mutex mutex_;
  std::deque<OpEffects> effects_;
  std::unordered_map<c10::OperatorName, const OpEffects*> by_name_;
  std::atomic<std::uint64_t> generation_{0};
  c10::RegistrationHandleRAII listening_ =
      c10::Dispatcher::singleton().addRegistrationListener(std::make_unique<Forgetter>(*this));
};

}  // namespace

const OpEffects& effects_of(const c10::OperatorHandle& op) {
  // Every thread looks up without a lock; the shared table is asked once per thread and op.
  struct Known {
    std::uint64_t generation = 0;
    std::unordered_map<const c10::FunctionSchema*, const OpEffects*> effects{};
  };
  thread_local Known known;
  static KnownEffects& all = KnownEffects::all();
  if (const std::uint64_t now = all.generation(); now != known.generation) known = {now};
  const OpEffects*& slot = known.effects[&op.schema()];
  if (slot == nullptr) slot = &all.of(op);
  return *slot;
}

}  // namespace lowtide::run
