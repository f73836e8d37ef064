// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <span>
#include <string>

#include "zoo/data_set.h"

namespace lowtide::zoo {

// A text for language models. A token is a byte; those that occur are numbered from 0 in their
// order. An example is a piece as long as the model's context, its targets are the same tokens one
// further on. For models that tell hidden tokens, one in seven has the number classes() instead of
// its own, and only these have targets. The last tenth of the text is to evaluate. Throws
// InvalidInput if the text is too short to be of use (under 100 bytes); `name` is for that message.
std::unique_ptr<DataSet> make_text(std::span<const std::uint8_t> text, const std::string& name);

}  // namespace lowtide::zoo
