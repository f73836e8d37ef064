// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "plan/name_table.h"

namespace lowtide::plan {

// The one grammar behind both file forms. In the text form an action is its name, its plain fields
// and then its keyed fields, each led by its own name:
//   fetch  a.1   issue 3  need 5
// In the JSON form every field stands under its name.
struct ActionForm {
  struct Field {
    const char* name;
    // A whole number (or `end`, for a position); else a name.
    bool is_number = false;
    bool optional = false;
  };

  std::string_view name;
  // How a person would write it, for error messages.
  std::string_view usage;
  std::vector<Field> plain;
  std::vector<Field> keyed;
};

// The form of an action by its name, or nullptr. `order` has none: its words are all ops.
const ActionForm* find_form(std::string_view name);

// The words of the text form. Requires: check_names finds nothing.
std::vector<std::string> to_words(const Action& action, const Problem& problem);

// The action that the words spell. Throws InvalidInput, saying what was expected.
Action action_from_words(const std::vector<std::string_view>& words, const NameTable& names);

}  // namespace lowtide::plan
