// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

// Pictures of lines, dots and words as SVG, which browsers and text processors show.

namespace lowtide::cli {

struct Point {
  double x = 0;
  double y = 0;
};

// Coordinates are pixels from the upper left. How things look is given as attributes of SVG, such
// as `stroke="black"`; only words are escaped.
class SvgPicture {
 public:
  SvgPicture(int width, int height, std::string_view title);

  void line(Point from, Point to, std::string_view look);
  void path(const std::vector<Point>& points, std::string_view look);
  void dot(Point centre, double radius, std::string_view look);
  // `look` says what of the text stands at the point: its start if there is no text-anchor.
  void text(Point at, std::string_view words, std::string_view look);

  std::string document() const;

 private:
  std::string head_;
  std::string body_;
};

// Round numbers from `low` to `high` at even distances, some `wanted` of them, for an axis.
// Requires: low < high, wanted > 0.
std::vector<double> round_ticks(double low, double high, int wanted);

}  // namespace lowtide::cli
