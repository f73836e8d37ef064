// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <vector>

namespace lowtide::train {

// "sgd" (with momentum), "sgd_plain" (without), "adam" and "adamw" (one fused kernel for all of an
// update, which takes no memory), "adam_foreach" and "adamw_foreach" (the same operation by
// operation, with temporaries as large as the parameters).
std::vector<std::string> optimizer_names();

}  // namespace lowtide::train
