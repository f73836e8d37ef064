// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "capi/options.h"

#include <functional>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "base/check.h"
#include "base/suggest.h"

namespace lowtide::capi {
namespace {

using nlohmann::json;

// Puts one field of the object into the options.
using Setter = std::function<void(SessionOptions&, const json&)>;

template <class Value>
Setter sets(Value SessionOptions::*member) {
  return [member](SessionOptions& options, const json& value) {
    options.*member = value.get<Value>();
  };
}

Means means_named(const std::string& name) {
  static const std::map<std::string, Means> kNames = {
      {"recompute", Means::kRecompute}, {"host", Means::kHost}, {"mixed", Means::kMixed}};
  const auto found = kNames.find(name);
  LT_REQUIRE(found != kNames.end(), "means must be recompute, host or mixed, but is \"", name,
             "\"");
  return found->second;
}

const std::map<std::string, Setter>& setters() {
  static const std::map<std::string, Setter> kSetters = {
      {"budget", sets(&SessionOptions::budget)},
      {"device", sets(&SessionOptions::device)},
      {"means", [](SessionOptions& options,
                   const json& value) { options.means = means_named(value.get<std::string>()); }},
      {"policy", sets(&SessionOptions::policy)},
      {"policy_options", sets(&SessionOptions::policy_options)},
      {"wait_for_plans", sets(&SessionOptions::wait_for_plans)},
      {"host_cap", sets(&SessionOptions::host_cap)},
      {"spill_dir", sets(&SessionOptions::spill_dir)},
      {"spill_cap", sets(&SessionOptions::spill_cap)},
      {"spill_uring", sets(&SessionOptions::spill_uring)},
      {"floor_bytes", sets(&SessionOptions::floor_bytes)},
      {"step_aside", sets(&SessionOptions::step_aside)},
      {"evict_everything", sets(&SessionOptions::evict_everything)},
      {"cap_reserved", sets(&SessionOptions::cap_reserved)},
      {"expandable_segments", sets(&SessionOptions::expandable_segments)},
      {"own_pages", sets(&SessionOptions::own_pages)},
      {"batch", sets(&SessionOptions::batch)},
  };
  return kSetters;
}

void set(SessionOptions& options, const std::string& name, const json& value) {
  const auto found = setters().find(name);
  if (found == setters().end()) {
    std::vector<std::string> known;
    for (const auto& [key, setter] : setters()) known.push_back(key);
    throw InvalidInput(base::concat("unknown option '", name, "'", base::suggestion(name, known),
                                    "; known are ", base::join(known)));
  }
  try {
    found->second(options, value);
  } catch (const json::exception&) {
    throw InvalidInput(
        base::concat("option '", name, "' has a value of the wrong type: ", value.dump()));
  }
}

}  // namespace

SessionOptions parse_options(std::string_view text) {
  const json object = json::parse(text, nullptr, /*allow_exceptions=*/false);
  LT_REQUIRE(object.is_object(), "the options of a session must be a JSON object, but are: ", text);
  SessionOptions options;
  for (const auto& [name, value] : object.items()) set(options, name, value);
  return options;
}

}  // namespace lowtide::capi
