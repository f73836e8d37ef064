// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "cli/console.h"

#include <algorithm>
#include <clocale>
#include <cstdlib>
#include <ostream>

#include <langinfo.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/check.h"
#include "base/numbers.h"

namespace lowtide::cli {
namespace {

constexpr int kDefaultColumns = 100;

std::string_view environment(const char* name) {
  const char* text = std::getenv(name);
  return text == nullptr ? std::string_view() : std::string_view(text);
}

int terminal_columns() {
  winsize size{};
  if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0) return size.ws_col;
  return base::parse_number<int>(environment("COLUMNS")).value_or(kDefaultColumns);
}

}  // namespace

void WipedLine::show(std::string_view text) {
  seconds_shown_ = 0;
  if (console_.is_watched) console_.err << "\r\x1b[K" << text << std::flush;
}

void WipedLine::show_each_second(double seconds, std::string_view text) {
  const int whole = static_cast<int>(seconds);
  if (whole <= seconds_shown_) return;
  show(base::concat(text, ", ", whole, " s"));
  seconds_shown_ = whole;
}

Style style_of_stdout() {
  // Only the encoding of characters: numbers are printed the same everywhere.
  std::setlocale(LC_CTYPE, "");
  const bool is_terminal = isatty(STDOUT_FILENO) == 1;
  Style style;
  style.unicode = std::string_view(nl_langinfo(CODESET)) == "UTF-8";
  style.colour = is_terminal && environment("NO_COLOR").empty() && environment("TERM") != "dumb";
  style.columns = is_terminal ? terminal_columns() : kDefaultColumns;
  return style;
}

bool stderr_is_terminal() { return isatty(STDERR_FILENO) == 1; }

std::string paint(std::string_view text, int colour, const Style& style) {
  if (!style.colour) return std::string(text);
  return "\x1b[38;5;" + std::to_string(colour) + "m" + std::string(text) + "\x1b[0m";
}

std::string bold(std::string_view text, const Style& style) {
  if (!style.colour) return std::string(text);
  return "\x1b[1m" + std::string(text) + "\x1b[0m";
}

std::string one_line(std::string_view text) {
  std::string line(text);
  while (!line.empty() && line.back() == '\n') line.pop_back();
  std::replace_if(
      line.begin(), line.end(), [](char c) { return static_cast<unsigned char>(c) < 0x20; }, ' ');
  return line;
}

static void print_message(std::ostream& err, const char* kind, std::string_view message) {
  err << "lowtide: " << kind << ": " << one_line(message) << "\n";
}

void print_error(std::ostream& err, std::string_view message) {
  print_message(err, "error", message);
}

void print_warning(std::ostream& err, std::string_view message) {
  print_message(err, "warning", message);
}

}  // namespace lowtide::cli
