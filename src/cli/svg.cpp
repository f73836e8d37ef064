// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "cli/svg.h"

#include <cmath>

#include "base/check.h"
#include "base/markup.h"
#include "base/printed.h"

namespace lowtide::cli {
namespace {

using base::concat;

// A tenth of a pixel is enough, and the same on every machine.
std::string number(double value) { return base::printed("%.1f", value); }

}  // namespace

SvgPicture::SvgPicture(int width, int height, std::string_view title)
    : head_(concat("<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"", width, "\" height=\"",
                   height, "\" viewBox=\"0 0 ", width, " ", height,
                   "\" font-family=\"Helvetica, Arial, sans-serif\" font-size=\"13\">\n<title>",
                   base::markup_escaped(title), "</title>\n<rect width=\"", width, "\" height=\"",
                   height, "\" fill=\"white\"/>\n")) {}

void SvgPicture::line(Point from, Point to, std::string_view look) {
  body_ += concat("<line x1=\"", number(from.x), "\" y1=\"", number(from.y), "\" x2=\"",
                  number(to.x), "\" y2=\"", number(to.y), "\" ", look, "/>\n");
}

void SvgPicture::path(const std::vector<Point>& points, std::string_view look) {
  std::string places;
  for (const Point& point : points) {
    places += concat(places.empty() ? "" : " ", number(point.x), ",", number(point.y));
  }
  body_ += concat("<polyline points=\"", places, "\" fill=\"none\" ", look, "/>\n");
}

void SvgPicture::dot(Point centre, double radius, std::string_view look) {
  body_ += concat("<circle cx=\"", number(centre.x), "\" cy=\"", number(centre.y), "\" r=\"",
                  number(radius), "\" ", look, "/>\n");
}

void SvgPicture::text(Point at, std::string_view words, std::string_view look) {
  body_ += concat("<text x=\"", number(at.x), "\" y=\"", number(at.y), "\" ", look, ">",
                  base::markup_escaped(words), "</text>\n");
}

std::string SvgPicture::document() const { return concat(head_, body_, "</svg>\n"); }

std::vector<double> round_ticks(double low, double high, int wanted) {
  LT_CHECK(low < high && wanted > 0, "no axis goes from ", low, " to ", high);
  const double rough = (high - low) / wanted;
  const double power = std::pow(10, std::floor(std::log10(rough)));
  const double digit = rough / power;
  const double step = power * (digit <= 1 ? 1 : digit <= 2 ? 2 : digit <= 5 ? 5 : 10);
  std::vector<double> ticks;
  // Counted in steps: sums of tenths would drift.
  const double slack = 1e-9;
  for (double i = std::ceil(low / step - slack); i <= high / step + slack; ++i) {
    ticks.push_back(i * step + 0.0);  // no -0
  }
  return ticks;
}

}  // namespace lowtide::cli
