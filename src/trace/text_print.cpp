// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include <sstream>

#include "base/numbers.h"
#include "trace/frees.h"
#include "trace/text.h"

namespace lowtide::trace {
namespace {

using base::print_number;

void print_storage(std::ostream& out, const Storage& storage) {
  out << "storage " << storage.name << ' ' << storage.bytes << ' ' << to_string(storage.kind);
  if (storage.at_start) out << " start";
  if (storage.at_end) out << " end";
  if (storage.pinned) out << " pinned";
  if (!storage.layer.empty()) out << " layer=" << storage.layer;
  for (const CodecOption& codec : storage.codecs) {
    out << " codec=" << codec.name << ':' << codec.bytes << ':'
        << print_number(codec.encode_seconds) << ':' << print_number(codec.decode_seconds)
        << (codec.lossless ? "" : ":lossy");
  }
  out << '\n';
}

void print_attributes(std::ostream& out, const Op& op) {
  if (!op.layer.empty()) out << " layer=" << op.layer;
  if (op.device_seconds) out << " device=" << print_number(*op.device_seconds);
  if (op.host_seconds) out << " host=" << print_number(*op.host_seconds);
  if (op.workspace_bytes != 0) out << " workspace=" << op.workspace_bytes;
  if (op.flops != 0) out << " flops=" << op.flops;
  if (op.accessed_bytes != 0) out << " accessed=" << op.accessed_bytes;
  if (!op.replayable) out << " once";
  if (op.random) out << " random";
  for (const Implementation& option : op.options) {
    out << " option=" << option.name << ':' << print_number(option.seconds) << ':'
        << option.workspace_bytes << (option.bit_exact ? "" : ":inexact")
        << (option.on_host ? ":host" : "") << (option.reads_host ? ":host_reads" : "");
  }
}

void print_uses(std::ostream& out, const Trace& trace, std::span<const Use> uses) {
  for (const Use& use : uses) {
    out << ' ' << (use.side_effect ? "~" : "") << trace.storage_of(use.value).name;
  }
}

void print_names(std::ostream& out, const Trace& trace, const char* lead,
                 const std::vector<StorageId>& storages) {
  if (storages.empty()) return;
  out << lead;
  for (const StorageId id : storages) out << ' ' << trace.storage(id).name;
}

}  // namespace

std::string print_text(const Trace& trace) {
  std::ostringstream out;
  out << "lowtide-trace 1\nname " << trace.name() << '\n';
  for (const Storage& storage : trace.storages()) print_storage(out, storage);
  const std::vector<std::vector<StorageId>> frees = late_frees(trace);
  for (std::size_t i = 0; i < trace.ops().size(); ++i) {
    const Op& op = trace.ops()[i];
    out << "op " << op.name << ' ' << to_string(op.phase);
    print_attributes(out, op);
    out << " :";
    print_uses(out, trace, op.reads);
    out << " ->";
    print_uses(out, trace, op.writes);
    print_names(out, trace, " |", op.views);
    print_names(out, trace, " free", frees[i]);
    out << '\n';
  }
  return out.str();
}

}  // namespace lowtide::trace
