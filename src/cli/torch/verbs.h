// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include "cli/verbs.h"

// The verbs of the program that has torch in it.

namespace lowtide::cli {

Verb add_train(CLI::App& program);
Verb add_verify(CLI::App& program);
Verb add_profile(CLI::App& program);
Verb add_max_batch(CLI::App& program);
Verb add_decompose(CLI::App& program);
// `compare --measure`, and `compare` of a model without that.
Verb add_measured_compare(CLI::App& program);
Verb add_compare_plans(CLI::App& program);
Verb add_estimate(CLI::App& program);
Verb add_doctor(CLI::App& program);
Verb add_models(CLI::App& program);

}  // namespace lowtide::cli
