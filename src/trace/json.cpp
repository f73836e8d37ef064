// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "trace/json.h"

#include <utility>

#include <nlohmann/json.hpp>

#include "base/check.h"
#include "base/json_reader.h"
#include "trace/frees.h"
#include "trace/text.h"

namespace lowtide::trace {
namespace {

using base::JsonReader;
using nlohmann::json;

constexpr std::int64_t kVersion = 1;

json storage_json(const Storage& storage) {
  json result{{"name", storage.name}, {"bytes", storage.bytes}, {"kind", to_string(storage.kind)}};
  if (storage.at_start) result["start"] = true;
  if (storage.at_end) result["end"] = true;
  if (storage.pinned) result["pinned"] = true;
  if (!storage.layer.empty()) result["layer"] = storage.layer;
  for (const CodecOption& codec : storage.codecs) {
    result["codecs"].push_back({{"name", codec.name},
                                {"bytes", codec.bytes},
                                {"encode_seconds", codec.encode_seconds},
                                {"decode_seconds", codec.decode_seconds},
                                {"lossless", codec.lossless}});
  }
  return result;
}

void put_uses(json& result, const Trace& trace, const char* key, std::span<const Use> uses) {
  const std::string side_key = std::string("side_") + key;
  for (const Use& use : uses) {
    result[use.side_effect ? side_key : key].push_back(trace.value(use.value).storage.index);
  }
}

void put_storages(json& result, const char* key, const std::vector<StorageId>& storages) {
  for (const StorageId id : storages) result[key].push_back(id.index);
}

json option_json(const Implementation& option) {
  return json{{"name", option.name},
              {"seconds", option.seconds},
              {"workspace_bytes", option.workspace_bytes},
              {"bit_exact", option.bit_exact},
              {"on_host", option.on_host},
              {"reads_host", option.reads_host}};
}

json op_json(const Trace& trace, const Op& op, const std::vector<StorageId>& frees) {
  json result{{"name", op.name}, {"phase", to_string(op.phase)}};
  if (!op.layer.empty()) result["layer"] = op.layer;
  put_uses(result, trace, "reads", op.reads);
  put_uses(result, trace, "writes", op.writes);
  put_storages(result, "views", op.views);
  put_storages(result, "frees", frees);
  if (op.device_seconds) result["device_seconds"] = *op.device_seconds;
  if (op.host_seconds) result["host_seconds"] = *op.host_seconds;
  if (op.workspace_bytes != 0) result["workspace_bytes"] = op.workspace_bytes;
  if (op.flops != 0) result["flops"] = op.flops;
  if (op.accessed_bytes != 0) result["accessed_bytes"] = op.accessed_bytes;
  if (!op.replayable) result["replayable"] = false;
  if (op.random) result["random"] = true;
  for (const Implementation& option : op.options) result["options"].push_back(option_json(option));
  return result;
}

Storage read_storage(const JsonReader& in) {
  Storage storage;
  storage.name = in.string("name");
  storage.bytes = in.integer("bytes");
  const std::string kind = in.string("kind");
  const std::optional<StorageKind> found = storage_kind_from(kind);
  LT_REQUIRE(found, in.path(), ": unknown kind of storage '", kind, "'");
  storage.kind = *found;
  storage.at_start = in.boolean("start", false);
  storage.at_end = in.boolean("end", false);
  storage.pinned = in.boolean("pinned", false);
  storage.layer = in.string("layer", "");
  in.for_each("codecs", [&storage](const JsonReader& codec) {
    storage.codecs.push_back({.name = codec.string("name"),
                              .bytes = codec.integer("bytes"),
                              .encode_seconds = codec.number("encode_seconds"),
                              .decode_seconds = codec.number("decode_seconds"),
                              .lossless = codec.boolean("lossless", true)});
  });
  return storage;
}

std::vector<StorageId> read_storages(const JsonReader& in, const char* key) {
  std::vector<StorageId> result;
  for (const std::int64_t index : in.integers(key)) {
    LT_REQUIRE(index >= 0 && index < (std::int64_t{1} << 28U), in.path(), ": no storage ", index);
    result.push_back(StorageId{static_cast<std::int32_t>(index)});
  }
  return result;
}

std::vector<StorageUse> read_uses(const JsonReader& in, const std::string& key) {
  std::vector<StorageUse> uses;
  for (const StorageId id : read_storages(in, key.c_str())) uses.push_back({id, false});
  for (const StorageId id : read_storages(in, ("side_" + key).c_str())) uses.push_back({id, true});
  return uses;
}

Implementation read_option(const JsonReader& in) {
  return {.name = in.string("name"),
          .seconds = in.number("seconds"),
          .workspace_bytes = in.integer("workspace_bytes"),
          .bit_exact = in.boolean("bit_exact", true),
          .on_host = in.boolean("on_host", false),
          .reads_host = in.boolean("reads_host", false)};
}

// Puts the path of a storage or op before what the builder says about it.
template <class Add>
void add_at(const JsonReader& in, Add add) {
  try {
    add();
  } catch (const InvalidInput& error) {
    throw InvalidInput(base::concat(in.path(), ": ", error.what()));
  }
}

OpSpec read_op(const JsonReader& in) {
  OpSpec spec;
  spec.name = in.string("name");
  const std::string phase = in.string("phase");
  const std::optional<Phase> found = phase_from(phase);
  LT_REQUIRE(found, in.path(), ": unknown phase '", phase, "'");
  spec.phase = *found;
  spec.layer = in.string("layer", "");
  spec.reads = read_uses(in, "reads");
  spec.writes = read_uses(in, "writes");
  spec.views = read_storages(in, "views");
  spec.frees = read_storages(in, "frees");
  if (in.has("device_seconds")) spec.device_seconds = in.number("device_seconds");
  if (in.has("host_seconds")) spec.host_seconds = in.number("host_seconds");
  spec.workspace_bytes = in.integer("workspace_bytes", 0);
  spec.flops = in.integer("flops", 0);
  spec.accessed_bytes = in.integer("accessed_bytes", 0);
  spec.replayable = in.boolean("replayable", true);
  spec.random = in.boolean("random", false);
  in.for_each("options",
              [&spec](const JsonReader& option) { spec.options.push_back(read_option(option)); });
  return spec;
}

}  // namespace

Trace parse_json(std::string_view text) {
  const json document = base::parse_json_document(text, "lowtide-trace", kVersion);
  const JsonReader in(document, "trace");
  TraceBuilder builder(in.string("name"));
  in.for_each("storages", [&builder](const JsonReader& entry) {
    Storage storage = read_storage(entry);
    add_at(entry, [&] { builder.add_storage(std::move(storage)); });
  });
  in.for_each("ops", [&builder](const JsonReader& entry) {
    OpSpec spec = read_op(entry);
    add_at(entry, [&] { builder.add_op(std::move(spec)); });
  });
  return builder.build();
}

std::string print_json(const Trace& trace) {
  json document{{"format", "lowtide-trace"}, {"version", kVersion}, {"name", trace.name()}};
  document["storages"] = json::array();
  document["ops"] = json::array();
  for (const Storage& storage : trace.storages()) {
    document["storages"].push_back(storage_json(storage));
  }
  const std::vector<std::vector<StorageId>> frees = late_frees(trace);
  for (std::size_t i = 0; i < trace.ops().size(); ++i) {
    document["ops"].push_back(op_json(trace, trace.ops()[i], frees[i]));
  }
  return document.dump(1) + "\n";
}

Trace parse_any(std::string_view text) {
  const std::size_t first = text.find_first_not_of(" \t\r\n");
  LT_REQUIRE(first != std::string_view::npos, "the trace is empty");
  return text[first] == '{' ? parse_json(text) : parse_text(text);
}

}  // namespace lowtide::trace
