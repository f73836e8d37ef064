// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "trace/dtr_log.h"

#include <algorithm>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/check.h"
#include "base/json_reader.h"
#include "base/numbers.h"
#include "trace/names.h"

namespace lowtide::trace {
namespace {

using base::JsonReader;
using nlohmann::json;

// Gives the lines of the log one by one as JSON.
class Records {
 public:
  explicit Records(std::string_view text) : text_(text) {}

  // The next record, or nothing at the end. Blank lines are skipped.
  std::optional<json> next() {
    while (!text_.empty()) {
      ++line_;
      const std::size_t end = std::min(text_.find('\n'), text_.size());
      const std::string_view line = text_.substr(0, end);
      text_.remove_prefix(std::min(end + 1, text_.size()));
      if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
      json record = json::parse(line, nullptr, /*allow_exceptions=*/false);
      LT_REQUIRE(!record.is_discarded(), "not valid JSON");
      return record;
    }
    return std::nullopt;
  }

  // Field `key` of the next record, which must be a `kind` for tensor `name`.
  std::int64_t expect(const char* kind, const std::string& name, const char* key);

  int line() const { return line_; }

 private:
  std::string_view text_;
  int line_ = 0;
};

// The log writes numbers as strings.
std::int64_t number_from(const JsonReader& in, const char* key) {
  const std::string text = in.string(key);
  const std::optional<std::int64_t> number = base::parse_number<std::int64_t>(text);
  LT_REQUIRE(number, in.path(), ".", key, ": expected a whole number, found '", text, "'");
  return *number;
}

std::int64_t Records::expect(const char* kind, const std::string& name, const char* key) {
  const std::optional<json> record = next();
  LT_REQUIRE(record, "the log ends where ", kind, " of ", name, " should follow");
  const JsonReader in(*record, kind);
  LT_REQUIRE(in.string("INSTRUCTION") == kind && in.string("NAME") == name, "expected ", kind,
             " of ", name);
  return number_from(in, key);
}

std::string clean_name(std::string name) {
  for (char& c : name) {
    // In the middle of a name, so that it is judged without regard to its place.
    if (!is_name(std::string{'x', c})) c = '_';
  }
  if (!is_name(name)) name = "_" + name;
  return name;
}

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

// "droupout" is how the prototype spells its fused kernel.
bool uses_generator(std::string_view name) {
  if (contains(name, "backward")) return false;
  return contains(name, "dropout") || contains(name, "droupout") || contains(name, "bernoulli") ||
         contains(name, "rand");
}

template <class Item>
void add_once(std::vector<Item>& list, Item item) {
  if (std::find(list.begin(), list.end(), item) == list.end()) list.push_back(item);
}

std::vector<StorageUse> uses_of(const std::vector<StorageId>& storages) {
  std::vector<StorageUse> uses;
  uses.reserve(storages.size());
  for (const StorageId id : storages) uses.push_back({id, false});
  return uses;
}

class Importer {
 public:
  Trace import(std::string_view text, std::string name) {
    Records records(text);
    try {
      while (const std::optional<json> record = records.next()) handle(*record, records);
    } catch (const InvalidInput& error) {
      throw InvalidInput(base::concat("line ", records.line(), ": ", error.what()));
    }
    return build(std::move(name));
  }

 private:
  struct LoggedStorage {
    std::string name;
    std::int64_t bytes = 0;
    bool constant = false;
    // Names that stand for a tensor over it.
    int references = 0;
    // The op that made it; not set for a constant.
    std::size_t made_by = 0;
    std::size_t last_use = 0;
  };

  void handle(const json& record, Records& records) {
    const JsonReader in(record, "record");
    const std::string kind = in.string("INSTRUCTION");
    if (kind == "CONSTANT") {
      add_constant(in.string("NAME"), records);
    } else if (kind == "CALL") {
      call(in, records);
    } else if (kind == "MUTATE") {
      mutate(in);
    } else if (kind == "COPY") {
      name_tensor(in.string("DST"), storage_of(in.string("SRC")));
    } else if (kind == "COPY_FROM" || kind == "COPYFROM") {
      copy_from(in.string("DST"), storage_of(in.string("SRC")));
    } else if (kind == "RELEASE") {
      release(in.string("NAME"));
    } else if (kind == "ANNOTATE") {
      annotate(in.string("ANNOTATION"));
    } else {
      LT_REQUIRE(false, "unknown instruction '", kind, "'");
    }
  }

  StorageId add_storage(const std::string& name, std::int64_t bytes, bool constant) {
    const auto id = make_id<StorageId>(storages_.size());
    storages_.push_back(
        {.name = name, .bytes = bytes, .constant = constant, .made_by = ops_.size()});
    name_tensor(name, id);
    return id;
  }

  void add_constant(const std::string& name, Records& records) {
    add_storage(name, records.expect("MEMORY", name, "MEMORY"), /*constant=*/true);
  }

  void name_tensor(const std::string& name, StorageId storage) {
    LT_REQUIRE(tensors_.emplace(name, storage).second, "tensor ", name, " is made twice");
    ++storages_[storage.slot()].references;
  }

  StorageId storage_of(const std::string& tensor) const {
    const auto found = tensors_.find(tensor);
    LT_REQUIRE(found != tensors_.end() && found->second.valid(), "tensor ", tensor,
               found == tensors_.end() ? " was never made" : " is used after its release");
    return found->second;
  }

  std::vector<StorageId> storages_of(const std::vector<std::string>& tensors) const {
    std::vector<StorageId> result;
    result.reserve(tensors.size());
    for (const std::string& tensor : tensors) result.push_back(storage_of(tensor));
    return result;
  }

  void call(const JsonReader& in, Records& records) {
    const std::vector<StorageId> arguments = storages_of(in.strings("ARGS"));
    OpSpec spec = plain_spec(in);
    std::vector<StorageId> made;
    for (const std::string& result : in.strings("RESULT")) {
      const std::int64_t bytes = records.expect("MEMORY", result, "MEMORY");
      const std::int64_t alias = records.expect("ALIAS", result, "ALIAS");
      if (alias == -1) {
        made.push_back(add_storage(result, bytes, /*constant=*/false));
        continue;
      }
      const StorageId viewed = argument_at(arguments, alias);
      name_tensor(result, viewed);
      add_once(spec.views, viewed);
    }
    const bool only_views = made.empty() && !spec.views.empty();
    std::vector<StorageId> read;
    for (const StorageId id : arguments) {
      const bool viewed = std::find(spec.views.begin(), spec.views.end(), id) != spec.views.end();
      if (!only_views || !viewed) add_once(read, id);
    }
    add_op(std::move(spec), read, made);
  }

  void mutate(const JsonReader& in) {
    const std::vector<StorageId> arguments = storages_of(in.strings("ARGS"));
    std::vector<StorageId> read;
    for (const StorageId id : arguments) add_once(read, id);
    std::vector<StorageId> written;
    for (const std::int64_t index : in.integers("MUTATE")) {
      add_once(written, argument_at(arguments, index));
    }
    add_op(plain_spec(in), read, written);
  }

  static StorageId argument_at(const std::vector<StorageId>& arguments, std::int64_t index) {
    LT_REQUIRE(index >= 0 && index < static_cast<std::int64_t>(arguments.size()), "no argument ",
               index, " of ", arguments.size());
    return arguments[static_cast<std::size_t>(index)];
  }

  OpSpec plain_spec(const JsonReader& in) {
    const std::string name = in.string("NAME");
    if (!named_backward_ && contains(name, "backward")) named_backward_ = ops_.size();
    constexpr double kNanosecond = 1e-9;
    OpSpec spec{.name = clean_name(name)};
    spec.device_seconds = static_cast<double>(number_from(in, "TIME")) * kNanosecond;
    spec.random = uses_generator(name);
    return spec;
  }

  void add_op(OpSpec spec, const std::vector<StorageId>& read,
              const std::vector<StorageId>& written) {
    spec.reads = uses_of(read);
    spec.writes = uses_of(written);
    for (const std::vector<StorageId>* list : {&read, &written, &std::as_const(spec.views)}) {
      for (const StorageId id : *list) storages_[id.slot()].last_use = ops_.size();
    }
    ops_.push_back(std::move(spec));
  }

  void copy_from(const std::string& target, StorageId source) {
    const StorageId old = storage_of(target);
    ++storages_[source.slot()].references;
    tensors_[target] = source;
    drop_reference(old);
  }

  void release(const std::string& tensor) {
    const auto found = tensors_.find(tensor);
    if (found == tensors_.end() || !found->second.valid()) return;
    drop_reference(std::exchange(found->second, StorageId{}));
  }

  void drop_reference(StorageId id) {
    if (--storages_[id.slot()].references > 0) return;
    // Before the first op it needs no word: what no op uses goes with the first one.
    if (!ops_.empty()) ops_.back().frees.push_back(id);
  }

  void annotate(const std::string& text) {
    if (text == "START") *this = Importer{};
    if (text == "BACKWARD" && !annotated_backward_) annotated_backward_ = ops_.size();
  }

  static StorageKind kind_of(const LoggedStorage& storage, std::size_t backward) {
    const bool at_end = storage.references > 0;
    if (storage.constant) return at_end ? StorageKind::kParameter : StorageKind::kInput;
    if (storage.made_by < backward) {
      return storage.last_use >= backward ? StorageKind::kActivation : StorageKind::kTemporary;
    }
    return at_end ? StorageKind::kGradient : StorageKind::kTemporary;
  }

  Trace build(std::string name) {
    const std::size_t backward =
        annotated_backward_.value_or(named_backward_.value_or(ops_.size()));
    TraceBuilder builder(std::move(name));
    for (const LoggedStorage& logged : storages_) {
      Storage storage;
      storage.name = logged.name;
      storage.bytes = logged.bytes;
      storage.kind = kind_of(logged, backward);
      storage.at_start = logged.constant;
      storage.at_end = logged.references > 0;
      builder.add_storage(std::move(storage));
    }
    for (std::size_t i = 0; i < ops_.size(); ++i) {
      ops_[i].phase = i < backward ? Phase::kForward : Phase::kBackward;
      builder.add_op(std::move(ops_[i]));
    }
    return builder.build();
  }

  std::vector<LoggedStorage> storages_;
  std::vector<OpSpec> ops_;
  // Every name that was made; the id is not valid after the release of the name.
  std::unordered_map<std::string, StorageId> tensors_;
  // How many ops came before the phase began, by annotation and by the names of ops.
  std::optional<std::size_t> annotated_backward_;
  std::optional<std::size_t> named_backward_;
};

}  // namespace

Trace import_dtr_log(std::string_view text, std::string name) {
  return Importer{}.import(text, std::move(name));
}

}  // namespace lowtide::trace
