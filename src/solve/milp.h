// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace lowtide::solve {

// Rows are kept to a millionth: whoever has a bound that must not be passed asks for this share
// less.
inline constexpr double kRowTolerance = 2e-6;

// A linear programme, some of whose unknowns may have to be whole numbers: least cost within the
// bounds of columns (unknowns) and rows (sums of them).
class LinearProgram {
 public:
  using Column = std::int32_t;
  struct Term {
    Column column = 0;
    double factor = 0;
  };

  Column add_column(double cost, double lower, double upper, bool is_whole);
  Column add_binary(double cost) { return add_column(cost, 0, 1, true); }
  // lower <= sum of the terms <= upper; infinite where there is no bound. A column may occur twice.
  void add_row(double lower, double upper, std::vector<Term> terms);
  void at_most(double upper, std::vector<Term> terms);
  void at_least(double lower, std::vector<Term> terms);

  std::size_t columns() const { return cost_.size(); }
  std::size_t rows() const { return row_lower_.size(); }
  bool has_whole_columns() const {
    return std::find(whole_.begin(), whole_.end(), 1) != whole_.end();
  }

  // Whether values of all columns keep all bounds, by kRowTolerance, and what they cost.
  bool is_solved_by(const std::vector<double>& values) const;
  double cost_of(const std::vector<double>& values) const;

 private:
  friend class HighsModel;
  std::vector<double> cost_;
  std::vector<double> lower_;
  std::vector<double> upper_;
  std::vector<std::int32_t> whole_;
  std::vector<double> row_lower_;
  std::vector<double> row_upper_;
  std::vector<std::int32_t> row_starts_;
  std::vector<std::int32_t> row_columns_;
  std::vector<double> row_factors_;
};

struct MilpOptions {
  // The most iterations of the simplex method, of all nodes together: a measure of work that is the
  // same on every machine. It is looked at now and then, so a little more may be done. The
  // relaxation is solved first, by itself, with as many: where that is not enough, the start is the
  // answer.
  std::int64_t effort = 100'000;
  std::int32_t seed = 1;
  // A solution is good enough when no other can be better by more than this share.
  double gap = 1e-4;
  // Values of all columns to begin with; empty if none are known.
  std::vector<double> start;
  // Asked now and then; yes ends the search with the best so far. May be empty.
  std::function<bool()> should_stop;
};

struct MilpAnswer {
  enum class Status : std::uint8_t {
    kOptimal,
    kFeasible,    // the best so far, when effort or time was spent
    kInfeasible,  // there is no solution
    kUnknown,     // none was found
  };
  Status status = Status::kUnknown;
  // By column; empty without a solution.
  std::vector<double> values;
  double objective = 0;
  // No solution is below it.
  double bound = 0;

  bool has_solution() const { return !values.empty(); }
};

// Whether a solver was found. It is no part of this program: HiGHS (MIT licence) is looked for when
// it is first asked for, by the environment variable LOWTIDE_HIGHS (the path of its library), by
// the loader's own ways, and in the virtual environment of the source tree.
bool has_milp_solver();

// Why not, and what to do about it; for messages.
std::string no_milp_solver();

// One thread, the same answer each time. Safe to call from any thread.
// Throws InvalidInput if there is no solver, InternalError if it fails.
MilpAnswer solve_milp(const LinearProgram& program, const MilpOptions& options);

}  // namespace lowtide::solve
