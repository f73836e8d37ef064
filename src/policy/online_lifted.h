// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "lowtide/online.h"
#include "lowtide/policy.h"
#include "policy/option_reader.h"
#include "sim/online_runner.h"

namespace lowtide::policy {

using MakeOnline = std::function<std::unique_ptr<OnlinePolicy>()>;

// A planner that runs the step with an online policy and returns what it did. Each run gets a fresh
// online policy, so that equal problems give equal plans.
std::unique_ptr<Policy> lift(std::string name, PolicyOptions options, MakeOnline make,
                             sim::OnlineOptions online);

// The options that every lifted policy has; see OnlineOptions. `search` is its default.
sim::OnlineOptions read_online_options(OptionReader& reader, sim::VictimSearch search);

// Those of them that do not concern the search for victims.
void read_replay_options(OptionReader& reader, sim::OnlineOptions& online);

}  // namespace lowtide::policy
