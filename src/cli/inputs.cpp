// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "cli/inputs.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <istream>
#include <iterator>
#include <utility>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bytes.h"
#include "base/check.h"
#include "base/suggest.h"
#include "cli/exit_code.h"
#include "cost/machine_file.h"
#include "plan/json.h"
#include "plan/text.h"
#include "trace/dtr_log.h"
#include "trace/json.h"

namespace lowtide::cli {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kStdin = "-";
constexpr const char* kTraceHelp = "; docs/trace-format.md describes traces";
constexpr const char* kPlanHelp = "; docs/plan-format.md describes plans";

[[noreturn]] void fail_to_read(const std::string& path, int error) {
  throw IoError(base::concat("cannot read ", path, ": ", std::strerror(error),
                             "; check the name and its permissions"));
}

std::string read_file(const std::string& path, std::size_t most_bytes) {
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) fail_to_read(path, errno);
  std::string text;
  std::string block(std::size_t{1} << 16, '\0');
  ssize_t count = 0;
  do {
    count = ::read(file, block.data(), block.size());
    if (count > 0) text.append(block, 0, static_cast<std::size_t>(count));
  } while ((count > 0 && text.size() <= most_bytes) || (count < 0 && errno == EINTR));
  const int error = count < 0 ? errno : 0;
  ::close(file);
  if (error != 0) fail_to_read(path, error);
  return text;
}

std::string shown(const std::string& path) { return path == kStdin ? "standard input" : path; }

// Calls `parse` and puts the name of the file before what it finds wrong.
template <class Parse>
auto with_file_name(const std::string& path, const char* help, const Parse& parse) {
  try {
    return parse();
  } catch (const InvalidInput& error) {
    throw InvalidInput(base::concat(shown(path), ": ", error.what(), help));
  }
}

bool is_dtr_log(const std::string& path, std::string_view text) {
  const std::string_view first_line = text.substr(0, text.find('\n'));
  return path.ends_with(".log") || first_line.find("\"INSTRUCTION\"") != std::string_view::npos;
}

// "resnet32" for "logs/resnet32.log", with what a name may not contain replaced.
std::string trace_name_of(const std::string& path) {
  std::string name = path == kStdin ? "stdin" : fs::path(path).stem().string();
  const auto is_odd = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) == 0 && c != '.' && c != '_';
  };
  std::replace_if(name.begin(), name.end(), is_odd, '_');
  return name;
}

}  // namespace

std::string read_input(const std::string& path, std::string_view what, std::istream& in,
                       std::size_t most_bytes) {
  std::error_code error;
  if (path != kStdin && fs::is_directory(path, error)) {
    throw IoError(base::concat("cannot read ", path, ": it is a folder; name ", what, " in it"));
  }
  std::string text = path == kStdin ? std::string(std::istreambuf_iterator<char>(in), {})
                                    : read_file(path, most_bytes);
  LT_REQUIRE(text.size() <= most_bytes, shown(path), " has more than ", most_bytes, " bytes");
  const bool is_empty = text.find_first_not_of(" \t\r\n") == std::string::npos;
  LT_REQUIRE(!is_empty, shown(path), " is empty; give ", what);
  return text;
}

std::shared_ptr<const Trace> load_trace(const std::string& path, std::istream& in) {
  return parse_trace(path, read_input(path, "a trace", in));
}

report::RunRecord parse_record(const std::string& path, const std::string& text) {
  return with_file_name(path, "", [&] { return report::parse_run_record(text); });
}

std::shared_ptr<const Trace> parse_trace(const std::string& path, const std::string& text) {
  return with_file_name(path, kTraceHelp, [&] {
    return std::make_shared<const Trace>(is_dtr_log(path, text)
                                             ? trace::import_dtr_log(text, trace_name_of(path))
                                             : trace::parse_any(text));
  });
}

Machine load_machine(const std::string& name_or_path, std::istream& in) {
  const std::vector<std::string> names = machine_names();
  const bool is_name = std::find(names.begin(), names.end(), name_or_path) != names.end();
  if (is_name) return machine_named(name_or_path);
  std::error_code error;
  const bool is_file = name_or_path.find_first_of("/.") != std::string::npos ||
                       name_or_path == kStdin || fs::exists(name_or_path, error);
  if (!is_file) {
    throw UsageError(base::concat("unknown machine '", name_or_path, "'; known are ",
                                  base::join(names), ", or name a JSON file",
                                  base::suggestion(name_or_path, names)));
  }
  const std::string text = read_input(name_or_path, "a machine", in);
  return with_file_name(name_or_path, "", [&] { return cost::parse_machine(text); });
}

Plan load_plan(const std::string& path, const Problem& problem, std::istream& in) {
  const std::string text = read_input(path, "a plan", in);
  return with_file_name(path, kPlanHelp, [&] { return plan::parse_any(text, problem); });
}

std::int64_t budget_from(std::string_view text, std::int64_t plain_peak_bytes) {
  try {
    return base::parse_budget(text, plain_peak_bytes);
  } catch (const InvalidInput& error) {
    throw UsageError(base::concat("--budget: ", error.what()));
  }
}

void require_budget(std::string_view text) {
  if (budget_from(text, base::kGiB) > 0) return;
  throw UsageError(base::concat("--budget: a budget of nothing cannot be kept: '", text, "'"));
}

}  // namespace lowtide::cli
