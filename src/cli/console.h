// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <iosfwd>
#include <string>
#include <string_view>

namespace lowtide::cli {

// What the place that text goes to can show.
struct Style {
  bool colour = false;
  bool unicode = false;
  int columns = 100;
};

// The streams a verb talks through: results go to `out`, messages and progress to `err`.
struct Console {
  std::istream& in;
  std::ostream& out;
  std::ostream& err;
  Style style;
  // Whether someone watches `err`, so that a line that is overwritten makes sense there.
  bool is_watched = false;
};

// A line on a terminal that is overwritten, and wiped in the end; nothing where nobody watches.
class WipedLine {
 public:
  explicit WipedLine(Console& console) : console_(console) {}
  WipedLine(const WipedLine&) = delete;
  WipedLine& operator=(const WipedLine&) = delete;
  ~WipedLine() { show(""); }

  void show(std::string_view text);
  // The text with how long it has been true, once for each whole second.
  void show_each_second(double seconds, std::string_view text);

 private:
  Console& console_;
  int seconds_shown_ = 0;
};

// What standard output can show: colour on a terminal unless NO_COLOR is set or TERM is dumb,
// Unicode if the locale's encoding is UTF-8.
Style style_of_stdout();

bool stderr_is_terminal();

// `text` between the escape codes of a colour of the 256-colour palette, or as it is.
std::string paint(std::string_view text, int colour, const Style& style);
std::string bold(std::string_view text, const Style& style);

// Control characters, which a name from outside can bring along, become blanks.
std::string one_line(std::string_view text);

// Writes one line "lowtide: error: MESSAGE".
void print_error(std::ostream& err, std::string_view message);
// The same with "warning".
void print_warning(std::ostream& err, std::string_view message);

}  // namespace lowtide::cli
