// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace lowtide::solve {

// What we call of HiGHS' C interface (1.8 and later), with its types written out; the numbers are
// those of highs_c_api.h.
struct HighsLibrary {
  using Int = std::int32_t;
  using Model = void;
  // The first field of what a callback hands back ends the search if it is not 0.
  struct CallbackIn {
    int user_interrupt;
  };
  using Callback = void (*)(int type, const char* message, const void* data_out,
                            CallbackIn* data_in, void* user);

  static constexpr Int kOk = 0;
  static constexpr Int kWarning = 1;
  static constexpr Int kRowwise = 2;
  static constexpr Int kMinimize = 1;
  static constexpr Int kOptimal = 7;
  static constexpr Int kInfeasible = 8;
  static constexpr Int kIterationLimit = 14;
  static constexpr Int kInterrupt = 17;
  static constexpr Int kSolutionFeasible = 2;
  static constexpr Int kSimplexInterrupt = 1;
  static constexpr Int kMipInterrupt = 6;

  Model* (*create)() = nullptr;
  void (*destroy)(Model*) = nullptr;
  Int (*size_of_int)(const Model*) = nullptr;
  Int (*pass_mip)(Model*, Int columns, Int rows, Int entries, Int format, Int sense, double offset,
                  const double* cost, const double* lower, const double* upper,
                  const double* row_lower, const double* row_upper, const Int* starts,
                  const Int* indices, const double* values, const Int* whole) = nullptr;
  Int (*set_bool)(Model*, const char* option, Int value) = nullptr;
  Int (*set_int)(Model*, const char* option, Int value) = nullptr;
  Int (*set_double)(Model*, const char* option, double value) = nullptr;
  Int (*set_string)(Model*, const char* option, const char* value) = nullptr;
  Int (*set_solution)(Model*, const double* columns, const double* rows, const double* column_duals,
                      const double* row_duals) = nullptr;
  Int (*set_callback)(Model*, Callback, void* user) = nullptr;
  Int (*start_callback)(Model*, Int type) = nullptr;
  const void* (*callback_item)(const void* data_out, const char* name) = nullptr;
  Int (*run)(Model*) = nullptr;
  Int (*model_status)(const Model*) = nullptr;
  Int (*int_info)(const Model*, const char* name, Int* value) = nullptr;
  Int (*double_info)(const Model*, const char* name, double* value) = nullptr;
  Int (*get_solution)(const Model*, double* columns, double* column_duals, double* rows,
                      double* row_duals) = nullptr;
};

// The library, loaded when this is first called and never let go of; nothing if there is none, and
// then the reasons are those of the places that were tried.
const std::optional<HighsLibrary>& highs_library();
const std::string& highs_load_errors();

}  // namespace lowtide::solve
