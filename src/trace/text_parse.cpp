// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include <optional>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/numbers.h"
#include "base/words.h"
#include "trace/text.h"

namespace lowtide::trace {
namespace {

using Words = std::vector<std::string_view>;

template <class Number>
Number number_from(std::string_view text, std::string_view what) {
  const std::optional<Number> number = base::parse_number<Number>(text);
  LT_REQUIRE(number, "not a number for ", what, ": '", text, "'");
  return *number;
}

// "codec=name:bytes:encode:decode[:lossy]"
CodecOption parse_codec(std::string_view text) {
  const Words parts = base::split_on(text, ':');
  const bool lossy = parts.size() == 5 && parts[4] == "lossy";
  LT_REQUIRE(parts.size() == 4 || lossy, "not a codec: '", text,
             "'; write codec=NAME:BYTES:ENCODE_SECONDS:DECODE_SECONDS[:lossy]");
  return CodecOption{.name = std::string(parts[0]),
                     .bytes = number_from<std::int64_t>(parts[1], "codec bytes"),
                     .encode_seconds = number_from<double>(parts[2], "encode seconds"),
                     .decode_seconds = number_from<double>(parts[3], "decode seconds"),
                     .lossless = !lossy};
}

// "option=name:seconds:workspace[:inexact][:host][:host_reads]"
Implementation parse_option(std::string_view text) {
  const Words parts = base::split_on(text, ':');
  LT_REQUIRE(parts.size() >= 3, "not an option: '", text,
             "'; write option=NAME:SECONDS:WORKSPACE_BYTES[:inexact][:host][:host_reads]");
  Implementation option{.name = std::string(parts[0]),
                        .seconds = number_from<double>(parts[1], "option seconds"),
                        .workspace_bytes = number_from<std::int64_t>(parts[2], "option workspace")};
  for (std::size_t i = 3; i < parts.size(); ++i) {
    if (parts[i] == "inexact") {
      option.bit_exact = false;
    } else if (parts[i] == "host") {
      option.on_host = true;
    } else if (parts[i] == "host_reads") {
      option.reads_host = true;
    } else {
      LT_REQUIRE(false, "unknown word in option: '", parts[i], "'");
    }
  }
  return option;
}

// Reads one trace line by line.
class Parser {
 public:
  Trace parse(std::string_view text) {
    base::for_each_line(text, [this](const Words& words) { parse_line(words); });
    LT_REQUIRE(has_header_, "not a trace: the first line must be 'lowtide-trace 1'");
    LT_REQUIRE(builder_, "the trace has no name; add a line 'name NAME'");
    return builder_->build();
  }

 private:
  void parse_line(const Words& words) {
    if (!has_header_) {
      LT_REQUIRE(words.size() == 2 && words[0] == "lowtide-trace",
                 "not a trace: the first line must be 'lowtide-trace 1'");
      LT_REQUIRE(words[1] == "1", "trace version ", words[1],
                 " is not known to this build, which reads version 1");
      has_header_ = true;
    } else if (words[0] == "name") {
      LT_REQUIRE(words.size() == 2 && !builder_, "expected one line 'name NAME'");
      builder_.emplace(std::string(words[1]));
    } else if (!builder_) {
      LT_REQUIRE(false, "expected a line 'name NAME' first, found '", words[0], "'");
    } else if (words[0] == "storage") {
      parse_storage(words);
    } else if (words[0] == "op") {
      parse_op(words);
    } else {
      LT_REQUIRE(false, "expected storage or op, found '", words[0], "'");
    }
  }

  void parse_storage(const Words& words) {
    LT_REQUIRE(words.size() >= 4, "write: storage NAME BYTES KIND [start] [end] [pinned]");
    Storage storage;
    storage.name = std::string(words[1]);
    storage.bytes = number_from<std::int64_t>(words[2], "bytes");
    const std::optional<StorageKind> kind = storage_kind_from(words[3]);
    LT_REQUIRE(kind, "unknown kind of storage: '", words[3], "'");
    storage.kind = *kind;
    for (std::size_t i = 4; i < words.size(); ++i) parse_storage_word(words[i], storage);
    LT_REQUIRE(!ids_.contains(storage.name), "two storages have the name ", storage.name);
    std::string name = storage.name;
    ids_.emplace(std::move(name), builder_->add_storage(std::move(storage)));
  }

  static void parse_storage_word(std::string_view word, Storage& storage) {
    if (word == "start") {
      storage.at_start = true;
    } else if (word == "end") {
      storage.at_end = true;
    } else if (word == "pinned") {
      storage.pinned = true;
    } else if (word.starts_with("layer=")) {
      storage.layer = std::string(word.substr(6));
    } else if (word.starts_with("codec=")) {
      storage.codecs.push_back(parse_codec(word.substr(6)));
    } else {
      LT_REQUIRE(false, "unknown word for a storage: '", word, "'");
    }
  }

  void parse_op(const Words& words) {
    LT_REQUIRE(words.size() >= 3, "write: op NAME PHASE [ATTRIBUTES] : READS -> WRITES");
    OpSpec spec;
    spec.name = std::string(words[1]);
    const std::optional<Phase> phase = phase_from(words[2]);
    LT_REQUIRE(phase, "unknown phase: '", words[2],
               "'; it is forward, backward, optimizer or other");
    spec.phase = *phase;
    std::size_t at = 3;
    for (; at < words.size() && words[at] != ":"; ++at) parse_op_word(words[at], spec);
    LT_REQUIRE(at < words.size(), "an op needs ' : READS -> WRITES' after its attributes");
    parse_uses(words, at + 1, spec);
    builder_->add_op(std::move(spec));
  }

  static void parse_op_word(std::string_view word, OpSpec& spec) {
    const std::size_t equals = word.find('=');
    if (equals == std::string_view::npos) {
      LT_REQUIRE(word == "once" || word == "random", "unknown word for an op: '", word, "'");
      (word == "once" ? spec.replayable : spec.random) = word != "once";
      return;
    }
    const std::string_view key = word.substr(0, equals);
    const std::string_view text = word.substr(equals + 1);
    if (key == "layer") {
      spec.layer = std::string(text);
    } else if (key == "device") {
      spec.device_seconds = number_from<double>(text, key);
    } else if (key == "host") {
      spec.host_seconds = number_from<double>(text, key);
    } else if (key == "workspace") {
      spec.workspace_bytes = number_from<std::int64_t>(text, key);
    } else if (key == "flops") {
      spec.flops = number_from<std::int64_t>(text, key);
    } else if (key == "accessed") {
      spec.accessed_bytes = number_from<std::int64_t>(text, key);
    } else if (key == "option") {
      spec.options.push_back(parse_option(text));
    } else {
      LT_REQUIRE(false, "unknown attribute of an op: '", key, "'");
    }
  }

  // READS -> WRITES [| VIEWS] [free NAMES]
  void parse_uses(const Words& words, std::size_t at, OpSpec& spec) {
    enum class Part { kReads, kWrites, kViews, kFrees };
    Part part = Part::kReads;
    for (; at < words.size(); ++at) {
      const std::string_view word = words[at];
      if (word == "->") {
        LT_REQUIRE(part == Part::kReads, "'->' stands twice or too late");
        part = Part::kWrites;
      } else if (word == "|") {
        LT_REQUIRE(part == Part::kWrites, "'|' must follow the writes");
        part = Part::kViews;
      } else if (word == "free") {
        LT_REQUIRE(part == Part::kWrites || part == Part::kViews, "'free' must come last");
        part = Part::kFrees;
      } else if (part == Part::kReads) {
        spec.reads.push_back(use_from(word));
      } else if (part == Part::kWrites) {
        spec.writes.push_back(use_from(word));
      } else if (part == Part::kViews) {
        spec.views.push_back(storage_from(word));
      } else {
        spec.frees.push_back(storage_from(word));
      }
    }
    LT_REQUIRE(part != Part::kReads, "an op needs '->' between its reads and its writes");
  }

  StorageUse use_from(std::string_view word) const {
    const bool side_effect = word.starts_with('~');
    return {storage_from(side_effect ? word.substr(1) : word), side_effect};
  }

  StorageId storage_from(std::string_view name) const {
    const auto found = ids_.find(std::string(name));
    LT_REQUIRE(found != ids_.end(), "unknown storage: '", name, "'");
    return found->second;
  }

  bool has_header_ = false;
  std::optional<TraceBuilder> builder_;
  std::unordered_map<std::string, StorageId> ids_;
};

}  // namespace

Trace parse_text(std::string_view text) { return Parser{}.parse(text); }

bool looks_like_text(std::string_view text) {
  bool found = false;
  try {
    base::for_each_line(text.substr(0, 4096), [&found](const Words& words) {
      found = words[0] == "lowtide-trace";
      throw InvalidInput("stop at the first line with words");
    });
  } catch (const InvalidInput&) {
    return found;
  }
  return false;
}

}  // namespace lowtide::trace
