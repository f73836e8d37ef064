// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "cli/torch/price_plot.h"

#include <algorithm>
#include <optional>
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
constexpr int kHeight = 640;
// Of the parts between the axes: above step times, below what memory is worth.
constexpr double kLeft = 76;
constexpr double kRight = 690;
constexpr double kTop = 92;
constexpr double kBottom = 376;
constexpr double kPricesTop = 420;
constexpr double kPricesBottom = 570;

constexpr const char* kGrid = "stroke=\"#e4e4e4\"";
constexpr const char* kAxis = "stroke=\"#444\"";
constexpr const char* kTickWords = "fill=\"#444\" font-size=\"12\"";
constexpr const char* kCurve = "stroke=\"#1f6fb4\" stroke-width=\"2\"";
constexpr const char* kSpread = "stroke=\"#1f6fb4\" stroke-width=\"1.5\"";
constexpr const char* kPeak = "stroke=\"#b8651b\" stroke-width=\"1.5\"";
constexpr const char* kUnused = "stroke=\"#b8651b\" stroke-width=\"1\" stroke-dasharray=\"2 2\"";
constexpr const char* kPrice = "stroke=\"#6a3d9a\" stroke-width=\"3\"";
constexpr const char* kNoisyPrice = "stroke=\"#b9a3d0\" stroke-width=\"3\"";
constexpr const char* kPriceWords = "fill=\"#6a3d9a\" font-size=\"12\" text-anchor=\"middle\"";
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

// What a further GiB is worth, on the way from one budget to a larger one.
struct PriceStep {
  double from_bytes = 0;
  double to_bytes = 0;
  double milliseconds = 0;
  bool is_certain = false;
};

std::vector<PriceStep> price_steps(const train::PriceCurve& curve) {
  const std::vector<std::optional<train::MemoryPrice>> prices = train::memory_prices(curve);
  std::vector<PriceStep> steps;
  auto larger = static_cast<double>(curve.plain_peak_bytes);
  for (std::size_t i = 0; i < curve.points.size(); ++i) {
    if (curve.points[i].is_refused()) continue;
    const auto here = static_cast<double>(curve.points[i].budget_bytes);
    if (prices[i]) {
      steps.push_back({here, larger, 1e3 * prices[i]->seconds_per_gib, prices[i]->is_certain});
    }
    larger = here;
  }
  return steps;
}

// One part of the picture: what is up and down there.
struct Panel {
  double top = 0;
  double bottom = 0;
  // At its bottom and its top.
  double low = 0;
  double high = 1;

  double y_of(double value) const { return bottom - (bottom - top) * (value - low) / (high - low); }
};

// Draws one curve; members are what several parts of the picture need.
class Plot {
 public:
  explicit Plot(const train::PriceCurve& curve)
      : curve_(curve),
        prices_(price_steps(curve)),
        picture_(kWidth, kHeight, concat("Step time of ", curve.training.model, " by budget")) {
    double lowest = 1;
    double highest = 1;
    double most_bytes = static_cast<double>(curve.plain_peak_bytes);
    for (const train::CurvePoint& point : curve.points) {
      most_bytes = std::max(most_bytes, static_cast<double>(point.budget_bytes));
      if (point.is_refused()) continue;
      const train::Spread ratio = train::spread_of(point.ratios);
      lowest = std::min(lowest, ratio.least);
      highest = std::max(highest, ratio.most);
    }
    unit_ = unit_for(most_bytes);
    widest_ = 1.06 * std::max(most_bytes, 1.0) / unit_.bytes;
    // Some room, so that nothing touches the frame, and a curve that is flat looks flat.
    const double room = std::max(0.08 * (highest - lowest), 0.03);
    times_ = {kTop, kBottom, lowest - room, highest + room};
    place_prices();
  }

  std::string draw() {
    draw_title();
    draw_legend();
    draw_axes();
    draw_plain();
    draw_curve();
    draw_refused();
    draw_prices();
    return picture_.document();
  }

 private:
  double x_of(double bytes) const {
    return kLeft + (kRight - kLeft) * bytes / unit_.bytes / widest_;
  }
  Point place_of(const train::CurvePoint& point) const {
    return {x_of(static_cast<double>(point.budget_bytes)),
            times_.y_of(train::spread_of(point.ratios).middle)};
  }

  // Room above for the figures; 0 is always there, to be compared with.
  void place_prices() {
    double least = 0;
    double most = 0;
    for (const PriceStep& step : prices_) {
      least = std::min(least, step.milliseconds);
      most = std::max(most, step.milliseconds);
    }
    const double height = most > least ? most - least : 1;
    const double below = least < 0 ? 0.15 * height : 0;
    worth_ = {kPricesTop, kPricesBottom, least - below, most + 0.3 * height};
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

  void draw_legend() {
    constexpr double kY = 70;
    picture_.dot({kLeft + 6, kY - 4}, 4, "fill=\"#1f6fb4\"");
    picture_.text({kLeft + 16, kY}, "step time inside a budget", kTickWords);
    draw_diamond({kLeft + 196, kY - 4});
    picture_.text({kLeft + 208, kY}, "peak that was reached", kTickWords);
  }

  void draw_axes() {
    draw_scale(times_, 6, "step time, of plain's");
    draw_scale(worth_, 4, "saved by 1 GiB, ms");
    for (const double amount : round_ticks(0, widest_, 8)) {
      const double x = x_of(amount * unit_.bytes);
      for (const double y : {kBottom, kPricesBottom}) picture_.line({x, y}, {x, y + 5}, kAxis);
      picture_.text({x, kPricesBottom + 20}, printed("%.4g", amount),
                    concat(kTickWords, " text-anchor=\"middle\""));
    }
    picture_.text({(kLeft + kRight) / 2, kPricesBottom + 46}, concat("memory, ", unit_.name),
                  "text-anchor=\"middle\"");
  }

  void draw_scale(const Panel& panel, int ticks, const char* words) {
    for (const double value : round_ticks(panel.low, panel.high, ticks)) {
      const double y = panel.y_of(value);
      picture_.line({kLeft, y}, {kRight, y}, kGrid);
      picture_.text({kLeft - 8, y + 4}, printed("%.4g", value),
                    concat(kTickWords, " text-anchor=\"end\""));
    }
    picture_.line({kLeft, panel.top}, {kLeft, panel.bottom}, kAxis);
    picture_.line({kLeft, panel.bottom}, {kRight, panel.bottom}, kAxis);
    const double middle = (panel.top + panel.bottom) / 2;
    picture_.text({24, middle}, words,
                  concat("text-anchor=\"middle\" transform=\"rotate(-90 24 ",
                         printed("%.1f", middle), ")\""));
  }

  // A line at 1, and one where plain training would find room.
  void draw_plain() {
    const double x = x_of(static_cast<double>(curve_.plain_peak_bytes));
    picture_.line({kLeft, times_.y_of(1)}, {kRight, times_.y_of(1)}, kPlain);
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
    const double least = times_.y_of(ratio.least);
    const double most = times_.y_of(ratio.most);
    const Point peak = {x_of(static_cast<double>(point.peak_bytes)), place.y};
    picture_.line(place, peak, kUnused);
    draw_diamond(peak);
    picture_.line({place.x, least}, {place.x, most}, kSpread);
    picture_.line({place.x - kCap, least}, {place.x + kCap, least}, kSpread);
    picture_.line({place.x - kCap, most}, {place.x + kCap, most}, kSpread);
    picture_.dot(place, 4, "fill=\"#1f6fb4\"");
    picture_.text({place.x + 8, place.y + label_offset},
                  concat(point.budget, ": ", printed("%.2f", ratio.middle)), "font-size=\"12\"");
  }

  void draw_diamond(Point centre) {
    constexpr double kArm = 7;
    const Point right = {centre.x + kArm, centre.y};
    picture_.path({right,
                   {centre.x, centre.y + kArm},
                   {centre.x - kArm, centre.y},
                   {centre.x, centre.y - kArm},
                   right},
                  kPeak);
  }

  void draw_prices() {
    for (const PriceStep& step : prices_) {
      const double y = worth_.y_of(step.milliseconds);
      const double from = x_of(step.from_bytes);
      const double to = x_of(step.to_bytes);
      picture_.line({from, y}, {to, y}, step.is_certain ? kPrice : kNoisyPrice);
      picture_.text({(from + to) / 2, y - 6}, printed("%.3g", step.milliseconds), kPriceWords);
    }
    if (std::any_of(prices_.begin(), prices_.end(),
                    [](const PriceStep& step) { return !step.is_certain; })) {
      picture_.text({kRight, kPricesTop - 8}, "pale: less than the spread of the rounds",
                    concat(kTickWords, " text-anchor=\"end\""));
    }
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
  const std::vector<PriceStep> prices_;
  SvgPicture picture_;
  Unit unit_{};
  // Where the axis of memory ends, in units; it begins at 0.
  double widest_ = 1;
  Panel times_{};
  Panel worth_{};
};

}  // namespace

std::string price_plot(const train::PriceCurve& curve) { return Plot(curve).draw(); }

}  // namespace lowtide::cli
