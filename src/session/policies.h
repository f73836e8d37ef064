// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <memory>
#include <string>

#include "lowtide/policy.h"
#include "lowtide/session.h"
#include "policy/allowed_means.h"

namespace lowtide::session {

policy::AllowedMeans allowed_by(Means means);

// A policy whose plans a session can carry out, told to use no other means than these. Throws
// InvalidInput for a name that is none, for options that it does not have or that ask for other
// means, and if it cannot be kept to these.
std::unique_ptr<Policy> policy_within(const std::string& name, Means means, PolicyOptions options);

}  // namespace lowtide::session
