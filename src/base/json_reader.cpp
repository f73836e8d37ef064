// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "base/json_reader.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/check.h"
#include "base/suggest.h"

namespace lowtide::base {

using nlohmann::json;

namespace {

// True for a whole number that an std::int64_t holds; nlohmann's get() would wrap larger ones.
bool is_integer(const json& value) {
  constexpr auto kMax = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (value.is_number_unsigned()) return value.get<std::uint64_t>() <= kMax;
  return value.is_number_integer();
}

}  // namespace

json parse_json_document(std::string_view text, std::string_view format, std::int64_t version) {
  json document = json::parse(text, nullptr, /*allow_exceptions=*/false);
  LT_REQUIRE(!document.is_discarded(), "not valid JSON; expected a ", format, " document");
  const JsonReader in(document, std::string(format));
  const std::string found = in.string("format", "");
  LT_REQUIRE(found == format, "expected \"format\": \"", format, "\", found \"", found, "\"");
  const std::int64_t found_version = in.integer("version");
  LT_REQUIRE(found_version == version, format, " version ", found_version,
             " is not known to this build, which reads version ", version);
  return document;
}

JsonReader::JsonReader(const json& object, std::string path)
    : object_(&object), path_(std::move(path)) {
  LT_REQUIRE(object.is_object(), path_, ": expected an object");
}

void JsonReader::fail(const char* key, const char* expected) const {
  throw InvalidInput(concat(path_, ".", key, ": expected ", expected));
}

bool JsonReader::has(const char* key) const { return object_->contains(key); }

const json& JsonReader::field(const char* key) const {
  const auto found = object_->find(key);
  if (found == object_->end()) fail(key, "this field, which is missing");
  return *found;
}

std::string JsonReader::string(const char* key) const {
  const json& value = field(key);
  if (!value.is_string()) fail(key, "a string");
  return value.get<std::string>();
}

std::string JsonReader::string(const char* key, std::string fallback) const {
  return has(key) ? string(key) : std::move(fallback);
}

std::int64_t JsonReader::integer(const char* key) const {
  const json& value = field(key);
  if (!is_integer(value)) fail(key, "a whole number");
  return value.get<std::int64_t>();
}

std::int64_t JsonReader::integer(const char* key, std::int64_t fallback) const {
  return has(key) ? integer(key) : fallback;
}

double JsonReader::number(const char* key) const {
  const json& value = field(key);
  if (!value.is_number()) fail(key, "a number");
  return value.get<double>();
}

double JsonReader::number(const char* key, double fallback) const {
  return has(key) ? number(key) : fallback;
}

bool JsonReader::boolean(const char* key, bool fallback) const {
  if (!has(key)) return fallback;
  const json& value = field(key);
  if (!value.is_boolean()) fail(key, "true or false");
  return value.get<bool>();
}

std::vector<std::int64_t> JsonReader::integers(const char* key) const {
  std::vector<std::int64_t> result;
  if (!has(key)) return result;
  const json& list = field(key);
  if (!list.is_array()) fail(key, "a list of whole numbers");
  for (const json& item : list) {
    if (!is_integer(item)) fail(key, "a list of whole numbers");
    result.push_back(item.get<std::int64_t>());
  }
  return result;
}

std::vector<std::string> JsonReader::strings(const char* key) const {
  std::vector<std::string> result;
  if (!has(key)) return result;
  const json& list = field(key);
  if (!list.is_array()) fail(key, "a list of strings");
  for (const json& item : list) {
    if (!item.is_string()) fail(key, "a list of strings");
    result.push_back(item.get<std::string>());
  }
  return result;
}

void JsonReader::for_each(const char* key,
                          const std::function<void(const JsonReader&)>& handle) const {
  if (!has(key)) return;
  const json& list = field(key);
  if (!list.is_array()) fail(key, "a list");
  for (std::size_t i = 0; i < list.size(); ++i) {
    handle(JsonReader(list[i], concat(path_, ".", key, "[", i, "]")));
  }
}

void JsonReader::require_only(const std::vector<std::string>& keys) const {
  for (const auto& field : object_->items()) {
    LT_REQUIRE(std::find(keys.begin(), keys.end(), field.key()) != keys.end(), path_,
               ": unknown field '", field.key(), "'", suggestion(field.key(), keys));
  }
}

}  // namespace lowtide::base
