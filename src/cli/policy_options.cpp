// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "cli/policy_options.h"

#include "base/check.h"
#include "cli/exit_code.h"

namespace lowtide::cli {

PolicyOptions parse_options(const std::vector<std::string>& options) {
  PolicyOptions result;
  for (const std::string& option : options) {
    const std::size_t equals = option.find('=');
    if (equals == std::string::npos || equals == 0) {
      throw UsageError(base::concat("--option: not KEY=VALUE: '", option, "'"));
    }
    const bool is_new = result.emplace(option.substr(0, equals), option.substr(equals + 1)).second;
    if (!is_new) throw UsageError(base::concat("--option: given twice: '", option, "'"));
  }
  return result;
}

}  // namespace lowtide::cli
