// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstddef>
#include <cstdint>
#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>

#include "lowtide/machine.h"
#include "lowtide/plan.h"
#include "lowtide/trace.h"
#include "report/run_record.h"

// What the command line names, read and parsed. A file that cannot be read throws IoError, one
// whose contents are wrong InvalidInput; both messages begin with the file and say what to do. "-"
// is standard input.

namespace lowtide::cli {

// The contents of a file that must not be empty; `what` says what it should be ("a trace"). More
// than `most_bytes` is an InvalidInput, before it is all read.
std::string read_input(const std::string& path, std::string_view what, std::istream& in,
                       std::size_t most_bytes = std::string::npos);

// A trace in text or JSON form, or a log of DTR's (a name that ends in .log, or lines that begin
// as theirs do).
std::shared_ptr<const Trace> load_trace(const std::string& path, std::istream& in);

// The same from the contents of a file, whose name is for messages.
std::shared_ptr<const Trace> parse_trace(const std::string& path, const std::string& text);
report::RunRecord parse_record(const std::string& path, const std::string& text);

// A machine by its name or from a JSON file. Throws UsageError for a name that is neither.
Machine load_machine(const std::string& name_or_path, std::istream& in);

// A plan for the problem's trace. The budget is the plan's own: the problem's is not looked at.
Plan load_plan(const std::string& path, const Problem& problem, std::istream& in);

// A size or a share of the plain peak. Throws UsageError.
std::int64_t budget_from(std::string_view text, std::int64_t plain_peak_bytes);
// Throws UsageError for what is neither, and for nothing at all, before a peak is known.
void require_budget(std::string_view text);

}  // namespace lowtide::cli
