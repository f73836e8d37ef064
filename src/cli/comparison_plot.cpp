// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "cli/comparison_plot.h"

#include <algorithm>
#include <cmath>
#include <map>

#include "base/bytes.h"
#include "base/check.h"
#include "base/printed.h"
#include "cli/svg.h"

namespace lowtide::cli {
namespace {

using base::concat;
using base::printed;

constexpr int kWidth = 860;
constexpr double kLeft = 64;
constexpr double kRight = 690;
constexpr double kTop = 66;
constexpr double kBottom = 430;
// Between two names at the right edge.
constexpr double kNameHeight = 14;

constexpr const char* kGrid = "stroke=\"#e4e4e4\"";
constexpr const char* kAxis = "stroke=\"#444\"";
constexpr const char* kTickWords = "fill=\"#444\" font-size=\"12\"";
constexpr const char* kPlain = "stroke=\"#2c8a3e\" stroke-width=\"1.5\" stroke-dasharray=\"6 4\"";

// One policy's plans, by budget.
struct Curve {
  std::string policy;
  std::string colour;
  std::string dash;
  std::map<std::int64_t, double> ratios;
};

// Shades of one colour for policies that save memory in the same way; equal shades differ in dash.
std::string colour_of(const std::string& mechanisms, std::size_t index) {
  static const std::vector<std::string> reds = {"#d62728", "#ff7f0e", "#8c564b", "#e377c2"};
  static const std::vector<std::string> blues = {"#1f77b4", "#17becf", "#3949ab", "#9467bd"};
  static const std::vector<std::string> greens = {"#2ca02c", "#8aa300", "#00695c", "#555555"};
  const auto& shades = mechanisms == "swap" ? reds : mechanisms == "recompute" ? blues : greens;
  return shades[index % shades.size()];
}

std::string dash_of(std::size_t index) {
  static const std::vector<std::string> dashes = {"", "7 3", "2 3", "9 3 2 3"};
  return dashes[(index / 4) % dashes.size()];
}

std::vector<Curve> curves_of(const std::vector<ComparedPlan>& plans) {
  std::vector<Curve> curves;
  std::map<std::string, std::size_t> seen;
  for (const PolicyInfo& info : catalogue()) {
    Curve curve;
    curve.policy = info.name;
    for (const ComparedPlan& plan : plans) {
      if (plan.policy == info.name && !plan.refusal) {
        curve.ratios[plan.budget_bytes] = 1 + plan.overhead;
      }
    }
    if (curve.ratios.empty()) continue;
    const std::size_t index = seen[info.mechanisms]++;
    curve.colour = colour_of(info.mechanisms, index);
    curve.dash = dash_of(index);
    curves.push_back(std::move(curve));
  }
  return curves;
}

// Draws one picture; members are what several parts of it need. The axis of times is logarithmic in
// what a plan adds, from a thousandth of the step on: plans differ by factors.
class Plot {
 public:
  Plot(const PlainStep& step, const std::vector<ComparedPlan>& plans)
      : step_(step),
        curves_(curves_of(plans)),
        picture_(kWidth, height(curves_.size()), concat("Policies on ", step.trace->name())) {
    for (const Curve& curve : curves_) {
      for (const auto& [budget, ratio] : curve.ratios) highest_ = std::max(highest_, ratio - 1);
    }
    least_bytes_ = most_bytes_ = step.memory.plain_peak_bytes;
    for (const ComparedPlan& plan : plans) {
      least_bytes_ = std::min(least_bytes_, plan.budget_bytes);
      most_bytes_ = std::max(most_bytes_, plan.budget_bytes);
    }
    if (least_bytes_ == most_bytes_) least_bytes_ = 0;
  }

  std::string draw() {
    draw_title();
    draw_axes();
    for (const Curve& curve : curves_) draw_curve(curve);
    draw_names();
    return picture_.document();
  }

 private:
  static constexpr double kLeast = 1e-3;

  static int height(std::size_t curves) {
    const double names = kTop + kNameHeight * static_cast<double>(curves);
    return static_cast<int>(std::max(kBottom + 60, names + 20));
  }
  double x_of(std::int64_t bytes) const {
    const double share =
        static_cast<double>(bytes - least_bytes_) / static_cast<double>(most_bytes_ - least_bytes_);
    return kLeft + (kRight - kLeft) * share;
  }
  double y_of(double overhead) const {
    const double share =
        std::log(std::max(overhead, kLeast) / kLeast) / std::log(highest_ / kLeast);
    return kBottom - (kBottom - kTop) * share;
  }

  void draw_title() {
    picture_.text({kLeft, 26},
                  concat(step_.trace->name(), " on ", step_.machine.name, ", simulated"),
                  "font-size=\"16\" font-weight=\"bold\"");
    picture_.text({kLeft, 46},
                  concat("plain peak ", base::format_bytes(step_.memory.plain_peak_bytes),
                         ", plain step ", base::format_seconds(step_.timeline.seconds),
                         "; a line ends where its policy refuses the budget"),
                  kTickWords);
  }

  void draw_axes() {
    for (const double power : {0.001, 0.01, 0.1, 1.0, 10.0, 100.0, 1000.0}) {
      for (const double digit : {1.0, 2.0, 5.0}) {
        const double overhead = power * digit;
        if (overhead > highest_ * 1.001) break;
        const double y = y_of(overhead);
        picture_.line({kLeft, y}, {kRight, y}, kGrid);
        picture_.text({kLeft - 8, y + 4}, printed("%.4g %%", 100 * overhead),
                      concat(kTickWords, " text-anchor=\"end\""));
      }
    }
    for (int percent = 0; percent <= 100; percent += 10) {
      const std::int64_t bytes = step_.memory.plain_peak_bytes * percent / 100;
      if (bytes < least_bytes_ || bytes > most_bytes_) continue;
      const double x = x_of(bytes);
      picture_.line({x, kBottom}, {x, kBottom + 5}, kAxis);
      picture_.text({x, kBottom + 20}, concat(percent, " %"),
                    concat(kTickWords, " text-anchor=\"middle\""));
    }
    const double plain = x_of(step_.memory.plain_peak_bytes);
    picture_.line({plain, kTop}, {plain, kBottom}, kPlain);
    picture_.line({kLeft, kTop}, {kLeft, kBottom}, kAxis);
    picture_.line({kLeft, kBottom}, {kRight, kBottom}, kAxis);
    picture_.text({(kLeft + kRight) / 2, kBottom + 44}, "memory budget, of the plain peak",
                  "text-anchor=\"middle\"");
    picture_.text({14, (kTop + kBottom) / 2}, "added step time",
                  concat("text-anchor=\"middle\" transform=\"rotate(-90 14 ",
                         printed("%.1f", (kTop + kBottom) / 2), ")\""));
  }

  void draw_curve(const Curve& curve) {
    std::vector<Point> places;
    for (const auto& [budget, ratio] : curve.ratios) {
      places.push_back({x_of(budget), y_of(ratio - 1)});
    }
    picture_.path(places, concat("class=\"p-", curve.policy, "\" stroke=\"", curve.colour,
                                 "\" stroke-width=\"1.8\" stroke-dasharray=\"", curve.dash, "\""));
    for (const Point& place : places) {
      picture_.dot(place, 3, concat("class=\"p-", curve.policy, "\" fill=\"", curve.colour, "\""));
    }
  }

  // A column at the right, in the order of the lines at their smallest budgets.
  void draw_names() {
    std::vector<const Curve*> order;
    for (const Curve& curve : curves_) order.push_back(&curve);
    std::stable_sort(order.begin(), order.end(), [](const Curve* a, const Curve* b) {
      const auto& [budget_a, ratio_a] = *a->ratios.begin();
      const auto& [budget_b, ratio_b] = *b->ratios.begin();
      return std::pair(budget_a, ratio_a) < std::pair(budget_b, ratio_b);
    });
    double y = kTop + 4;
    for (const Curve* curve : order) {
      const std::string look =
          concat("class=\"p-", curve->policy, "\" stroke=\"", curve->colour,
                 "\" stroke-width=\"2\" stroke-dasharray=\"", curve->dash, "\"");
      picture_.line({kRight + 20, y - 4}, {kRight + 48, y - 4}, look);
      picture_.text({kRight + 54, y}, curve->policy,
                    concat("class=\"p-", curve->policy, "\" font-size=\"12\""));
      y += kNameHeight;
    }
  }

  const PlainStep& step_;
  const std::vector<Curve> curves_;
  SvgPicture picture_;
  // The most that a plan adds, as a share of the plain step; budgets at the ends of the axis.
  double highest_ = 0.1;
  std::int64_t least_bytes_ = 0;
  std::int64_t most_bytes_ = 0;
};

}  // namespace

std::string comparison_plot(const PlainStep& step, const std::vector<ComparedPlan>& plans) {
  return Plot(step, plans).draw();
}

}  // namespace lowtide::cli
