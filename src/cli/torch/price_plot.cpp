// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "cli/torch/price_plot.h"

#include <algorithm>
#include <vector>

#include "base/bytes.h"
#include "base/check.h"
#include "base/printed.h"
#include "cli/svg.h"
#include "train/prices.h"

namespace lowtide::cli {
namespace {

using base::concat;
using base::printed;

constexpr int kWidth = 760;
constexpr int kHeight = 460;
// Of the part between the axes.
constexpr double kLeft = 76;
constexpr double kRight = 690;
constexpr double kTop = 70;
constexpr double kBottom = 390;

constexpr const char* kGrid = "stroke=\"#e4e4e4\"";
constexpr const char* kAxis = "stroke=\"#444\"";
constexpr const char* kTickWords = "fill=\"#444\" font-size=\"12\"";
constexpr const char* kCurve = "stroke=\"#1f6fb4\" stroke-width=\"2\"";
constexpr const char* kSpread = "stroke=\"#1f6fb4\" stroke-width=\"1.5\"";
constexpr const char* kPlain = "stroke=\"#2c8a3e\" stroke-width=\"1.5\" stroke-dasharray=\"6 4\"";
constexpr const char* kPlainWords = "fill=\"#2c8a3e\" font-size=\"12\"";
constexpr const char* kRefused = "stroke=\"#c23b22\" stroke-width=\"2\"";
constexpr const char* kRefusedWords = "fill=\"#c23b22\" font-size=\"12\" text-anchor=\"middle\"";

struct Unit {
  const char* name;
  double bytes;
};

Unit unit_for(double bytes) {
  if (bytes >= static_cast<double>(base::kGiB)) return {"GiB", static_cast<double>(base::kGiB)};
  if (bytes >= static_cast<double>(base::kMiB)) return {"MiB", static_cast<double>(base::kMiB)};
  return {"KiB", static_cast<double>(base::kKiB)};
}

// Draws one curve; members are what several parts of the picture need.
class Plot {
 public:
  explicit Plot(const train::PriceCurve& curve)
      : curve_(curve),
        picture_(kWidth, kHeight, concat("Step time of ", curve.training.model, " by budget")) {
    double most_bytes = static_cast<double>(curve.plain_peak_bytes);
    for (const train::CurvePoint& point : curve.points) {
      most_bytes = std::max(most_bytes, static_cast<double>(point.budget_bytes));
      if (point.is_refused()) continue;
      const train::Spread ratio = train::spread_of(point.ratios);
      lowest_ = std::min(lowest_, ratio.least);
      highest_ = std::max(highest_, ratio.most);
    }
    unit_ = unit_for(most_bytes);
    widest_ = 1.06 * std::max(most_bytes, 1.0) / unit_.bytes;
    // Some room, so that nothing touches the frame, and a curve that is flat looks flat.
    const double room = std::max(0.08 * (highest_ - lowest_), 0.03);
    lowest_ -= room;
    highest_ += room;
  }

  std::string draw() {
    draw_title();
    draw_axes();
    draw_plain();
    draw_curve();
    draw_refused();
    return picture_.document();
  }

 private:
  double x_of(double bytes) const {
    return kLeft + (kRight - kLeft) * bytes / unit_.bytes / widest_;
  }
  double y_of(double ratio) const {
    return kBottom - (kBottom - kTop) * (ratio - lowest_) / (highest_ - lowest_);
  }
  Point place_of(const train::CurvePoint& point) const {
    return {x_of(static_cast<double>(point.budget_bytes)),
            y_of(train::spread_of(point.ratios).middle)};
  }

  void draw_title() {
    const train::TrainingOptions& training = curve_.training;
    picture_.text(
        {kLeft, 28},
        concat("What memory is worth: ", training.model, ", batch ", training.batch, ", ",
               training.optimizer, training.has_bf16 ? ", bf16" : "", ", ", training.device),
        "font-size=\"16\" font-weight=\"bold\"");
    const std::size_t rounds = curve_.plain_seconds.size();
    picture_.text(
        {kLeft, 48},
        concat("policy ", curve_.policy, "; median of ", rounds, rounds == 1 ? " round" : " rounds",
               " of ", curve_.timed_steps, curve_.timed_steps == 1 ? " step" : " steps",
               rounds == 1 ? "" : ", bars from the least to the most"),
        kTickWords);
  }

  void draw_axes() {
    for (const double ratio : round_ticks(lowest_, highest_, 6)) {
      const double y = y_of(ratio);
      picture_.line({kLeft, y}, {kRight, y}, kGrid);
      picture_.text({kLeft - 8, y + 4}, printed("%.4g", ratio),
                    concat(kTickWords, " text-anchor=\"end\""));
    }
    for (const double amount : round_ticks(0, widest_, 8)) {
      const double x = x_of(amount * unit_.bytes);
      picture_.line({x, kBottom}, {x, kBottom + 5}, kAxis);
      picture_.text({x, kBottom + 20}, printed("%.4g", amount),
                    concat(kTickWords, " text-anchor=\"middle\""));
    }
    picture_.line({kLeft, kTop}, {kLeft, kBottom}, kAxis);
    picture_.line({kLeft, kBottom}, {kRight, kBottom}, kAxis);
    picture_.text({(kLeft + kRight) / 2, kBottom + 46}, concat("memory budget, ", unit_.name),
                  "text-anchor=\"middle\"");
    const double middle = (kTop + kBottom) / 2;
    picture_.text({24, middle}, "step time, of plain's",
                  concat("text-anchor=\"middle\" transform=\"rotate(-90 24 ",
                         printed("%.1f", middle), ")\""));
  }

  // A line at 1, and one where plain training would find room.
  void draw_plain() {
    const double x = x_of(static_cast<double>(curve_.plain_peak_bytes));
    picture_.line({kLeft, y_of(1)}, {kRight, y_of(1)}, kPlain);
    picture_.line({x, kTop}, {x, kBottom}, kPlain);
    const std::string look = concat(kPlainWords, " text-anchor=\"end\"");
    picture_.text(
        {x - 6, kTop + 12},
        concat("plain: ", base::format_bytes(curve_.plain_peak_bytes), ", ",
               base::format_seconds(train::spread_of(curve_.plain_seconds).middle), " a step"),
        look);
  }

  void draw_curve() {
    std::vector<Point> places;
    for (const train::CurvePoint& point : curve_.points) {
      if (point.is_refused()) continue;
      const Point place = place_of(point);
      // The label stands to the right, where the line to the larger budget is not.
      const bool is_below = !places.empty() && places.back().y < place.y;
      draw_point(point, place, is_below ? 18 : -8);
      places.push_back(place);
    }
    if (places.size() > 1) picture_.path(places, kCurve);
  }

  void draw_point(const train::CurvePoint& point, Point place, double label_offset) {
    constexpr double kCap = 5;
    const train::Spread ratio = train::spread_of(point.ratios);
    const double least = y_of(ratio.least);
    const double most = y_of(ratio.most);
    picture_.line({place.x, least}, {place.x, most}, kSpread);
    picture_.line({place.x - kCap, least}, {place.x + kCap, least}, kSpread);
    picture_.line({place.x - kCap, most}, {place.x + kCap, most}, kSpread);
    picture_.dot(place, 4, "fill=\"#1f6fb4\"");
    picture_.text({place.x + 8, place.y + label_offset},
                  concat(point.budget, ": ", printed("%.2f", ratio.middle)), "font-size=\"12\"");
  }

  void draw_refused() {
    constexpr double kArm = 5;
    const double y = kTop + 12;  // as if it took for ever
    for (const train::CurvePoint& point : curve_.points) {
      if (!point.is_refused()) continue;
      const double x = x_of(static_cast<double>(point.budget_bytes));
      picture_.line({x - kArm, y - kArm}, {x + kArm, y + kArm}, kRefused);
      picture_.line({x - kArm, y + kArm}, {x + kArm, y - kArm}, kRefused);
      picture_.text({x, y + 22}, point.budget, kRefusedWords);
      picture_.text({x, y + 36}, "refused", kRefusedWords);
    }
  }

  const train::PriceCurve& curve_;
  SvgPicture picture_;
  Unit unit_{};
  // Ends of the axes: ratios, and budgets in units, from 0 on.
  double lowest_ = 1;
  double highest_ = 1;
  double widest_ = 1;
};

}  // namespace

std::string price_plot(const train::PriceCurve& curve) { return Plot(curve).draw(); }

}  // namespace lowtide::cli
