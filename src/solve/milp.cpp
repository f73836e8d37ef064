// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "solve/milp.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/check.h"
#include "solve/highs_library.h"

namespace lowtide::solve {

namespace {

constexpr double kNoBound = std::numeric_limits<double>::infinity();
using Int = HighsLibrary::Int;

}  // namespace

LinearProgram::Column LinearProgram::add_column(double cost, double lower, double upper,
                                                bool is_whole) {
  cost_.push_back(cost);
  lower_.push_back(lower);
  upper_.push_back(upper);
  whole_.push_back(is_whole ? 1 : 0);
  return static_cast<Column>(cost_.size() - 1);
}

void LinearProgram::add_row(double lower, double upper, std::vector<Term> terms) {
  row_lower_.push_back(lower);
  row_upper_.push_back(upper);
  row_starts_.push_back(static_cast<std::int32_t>(row_columns_.size()));
  const auto start = row_columns_.size();
  for (const Term& term : terms) {
    LT_REQUIRE(term.column >= 0 && static_cast<std::size_t>(term.column) < columns(),
               "a row names column ", term.column, " of ", columns());
    // The solver takes a column once a row.
    bool is_known = false;
    for (std::size_t i = start; i < row_columns_.size() && !is_known; ++i) {
      if (row_columns_[i] != term.column) continue;
      row_factors_[i] += term.factor;
      is_known = true;
    }
    if (is_known) continue;
    row_columns_.push_back(term.column);
    row_factors_.push_back(term.factor);
  }
}

bool LinearProgram::is_solved_by(const std::vector<double>& values) const {
  const auto is_between = [](double lower, double value, double upper) {
    const double slack = kRowTolerance * std::max(1.0, std::abs(value));
    return lower - slack <= value && value <= upper + slack;
  };
  for (std::size_t i = 0; i < columns(); ++i) {
    if (!is_between(lower_[i], values[i], upper_[i])) return false;
    if (whole_[i] != 0 && std::abs(values[i] - std::round(values[i])) > kRowTolerance) return false;
  }
  for (std::size_t row = 0; row < rows(); ++row) {
    const std::size_t end =
        row + 1 < rows() ? static_cast<std::size_t>(row_starts_[row + 1]) : row_columns_.size();
    double sum = 0;
    for (auto i = static_cast<std::size_t>(row_starts_[row]); i < end; ++i) {
      sum += row_factors_[i] * values[static_cast<std::size_t>(row_columns_[i])];
    }
    if (!is_between(row_lower_[row], sum, row_upper_[row])) return false;
  }
  return true;
}

double LinearProgram::cost_of(const std::vector<double>& values) const {
  double cost = 0;
  for (std::size_t i = 0; i < columns(); ++i) cost += cost_[i] * values[i];
  return cost;
}

void LinearProgram::at_most(double upper, std::vector<Term> terms) {
  add_row(-kNoBound, upper, std::move(terms));
}

void LinearProgram::at_least(double lower, std::vector<Term> terms) {
  add_row(lower, kNoBound, std::move(terms));
}

// One run of the solver.
class HighsModel {
 public:
  HighsModel(const HighsLibrary& highs, const LinearProgram& program, const MilpOptions& options)
      : highs_(highs), program_(program), options_(options), model_(highs.create()) {
    LT_CHECK(model_ != nullptr, "the solver makes a model");
    set_options();
    pass_program();
  }
  ~HighsModel() { highs_.destroy(model_); }
  HighsModel(const HighsModel&) = delete;
  HighsModel& operator=(const HighsModel&) = delete;

  // Solves it as if no unknown had to be a whole number. Whether that came to an end within the
  // effort; the solver asks nobody while it does this for a whole programme.
  bool can_relax() {
    check(highs_.set_bool(model_, "solve_relaxation", 1), "a relaxation");
    limit_iterations();
    const Int result = run();
    return result != HighsLibrary::kIterationLimit && result != HighsLibrary::kInterrupt;
  }

  MilpAnswer solve() {
    if (!program_.has_whole_columns()) limit_iterations();
    const Int result = run();
    MilpAnswer answer;
    Int found = 0;
    highs_.int_info(model_, "primal_solution_status", &found);
    if (found == HighsLibrary::kSolutionFeasible) read_solution(answer);
    if (answer.has_solution()) {
      answer.status = result == HighsLibrary::kOptimal ? MilpAnswer::Status::kOptimal
                                                       : MilpAnswer::Status::kFeasible;
    } else if (result == HighsLibrary::kInfeasible) {
      answer.status = MilpAnswer::Status::kInfeasible;
    }
    return answer;
  }

 private:
  void check(Int status, const char* what) const {
    LT_CHECK(status == HighsLibrary::kOk || status == HighsLibrary::kWarning, "the solver takes ",
             what, ", but it says ", status);
  }

  Int run() {
    const Int status = highs_.run(model_);
    const Int result = highs_.model_status(model_);
    LT_CHECK(status == HighsLibrary::kOk || status == HighsLibrary::kWarning,
             "the solver runs, but it says ", status, " with model status ", result);
    return result;
  }

  // Heeded for what has no whole numbers only.
  void limit_iterations() {
    const auto most =
        static_cast<Int>(std::min<std::int64_t>(options_.effort, std::numeric_limits<Int>::max()));
    check(highs_.set_int(model_, "simplex_iteration_limit", most), "a limit");
  }

  void set_options() {
    check(highs_.set_bool(model_, "output_flag", 0), "no output");
    check(highs_.set_string(model_, "parallel", "off"), "one thread");
    check(highs_.set_int(model_, "threads", 1), "one thread");
    check(highs_.set_int(model_, "random_seed", options_.seed), "a seed");
    check(highs_.set_double(model_, "mip_rel_gap", options_.gap), "a gap");
    check(highs_.set_double(model_, "mip_abs_gap", 1e-9), "a gap");
    check(highs_.set_callback(model_, &HighsModel::ask, this), "a callback");
    check(highs_.start_callback(model_, HighsLibrary::kSimplexInterrupt), "a callback");
    check(highs_.start_callback(model_, HighsLibrary::kMipInterrupt), "a callback");
  }

  void pass_program() {
    const LinearProgram& p = program_;
    check(highs_.pass_mip(model_, static_cast<Int>(p.columns()), static_cast<Int>(p.rows()),
                          static_cast<Int>(p.row_columns_.size()), HighsLibrary::kRowwise,
                          HighsLibrary::kMinimize, 0, p.cost_.data(), p.lower_.data(),
                          p.upper_.data(), p.row_lower_.data(), p.row_upper_.data(),
                          p.row_starts_.data(), p.row_columns_.data(), p.row_factors_.data(),
                          p.whole_.data()),
          "the programme");
    if (options_.start.empty()) return;
    LT_REQUIRE(options_.start.size() == p.columns(), "a start has a value for each column");
    check(highs_.set_solution(model_, options_.start.data(), nullptr, nullptr, nullptr), "a start");
  }

  void read_solution(MilpAnswer& answer) {
    answer.values.resize(program_.columns());
    std::vector<double> rows(program_.rows());
    check(highs_.get_solution(model_, answer.values.data(), nullptr, rows.data(), nullptr),
          "a question");
    highs_.double_info(model_, "objective_function_value", &answer.objective);
    if (highs_.double_info(model_, "mip_dual_bound", &answer.bound) != HighsLibrary::kOk) {
      answer.bound = answer.objective;
    }
  }

  static void ask(int type, const char* /*message*/, const void* data_out,
                  HighsLibrary::CallbackIn* data_in, void* user) {
    const auto& self = *static_cast<const HighsModel*>(user);
    if (data_in == nullptr) return;
    const bool spent =
        type == HighsLibrary::kMipInterrupt && self.iterations(data_out) > self.options_.effort;
    const bool stopped = self.options_.should_stop && self.options_.should_stop();
    if (spent || stopped) data_in->user_interrupt = 1;
  }

  std::int64_t iterations(const void* data_out) const {
    const void* item = highs_.callback_item(data_out, "mip_total_lp_iterations");
    return item == nullptr ? 0 : *static_cast<const std::int64_t*>(item);
  }

  const HighsLibrary& highs_;
  const LinearProgram& program_;
  const MilpOptions& options_;
  HighsLibrary::Model* model_;
};

namespace {

// What is known without a search.
MilpAnswer start_of(const LinearProgram& program, const MilpOptions& options) {
  MilpAnswer answer;
  answer.bound = -kNoBound;
  if (options.start.empty() || !program.is_solved_by(options.start)) return answer;
  answer.status = MilpAnswer::Status::kFeasible;
  answer.values = options.start;
  answer.objective = program.cost_of(options.start);
  return answer;
}

}  // namespace

bool has_milp_solver() { return highs_library().has_value(); }

std::string no_milp_solver() {
  return "no HiGHS is found: `pip install highspy` into .venv, or name its library by "
         "LOWTIDE_HIGHS (" +
         highs_load_errors() + ")";
}

MilpAnswer solve_milp(const LinearProgram& program, const MilpOptions& options) {
  LT_REQUIRE(has_milp_solver(), no_milp_solver());
  if (program.has_whole_columns() && !HighsModel(*highs_library(), program, options).can_relax()) {
    return start_of(program, options);
  }
  return HighsModel(*highs_library(), program, options).solve();
}

}  // namespace lowtide::solve
