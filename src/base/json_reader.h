// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace lowtide::base {

// Parses JSON text and checks its "format" and "version" fields. Throws InvalidInput.
nlohmann::json parse_json_document(std::string_view text, std::string_view format,
                                   std::int64_t version);

// Reads the fields of one JSON object and says by path ("trace.ops[3].name") what is wrong with
// one. Forms with a fallback accept a missing field; the others throw InvalidInput.
// Lives no longer than the JSON it was made from.
class JsonReader {
 public:
  JsonReader(const nlohmann::json& object, std::string path);

  const std::string& path() const { return path_; }
  bool has(const char* key) const;
  std::string string(const char* key) const;
  std::string string(const char* key, std::string fallback) const;
  std::int64_t integer(const char* key) const;
  std::int64_t integer(const char* key, std::int64_t fallback) const;
  double number(const char* key) const;
  double number(const char* key, double fallback) const;
  bool boolean(const char* key, bool fallback) const;
  // A missing list is an empty one.
  std::vector<std::int64_t> integers(const char* key) const;
  std::vector<std::string> strings(const char* key) const;
  void for_each(const char* key, const std::function<void(const JsonReader&)>& handle) const;
  // Throws if there is a field of another name: a misspelt one would be as if it were not there.
  void require_only(const std::vector<std::string>& keys) const;

 private:
  const nlohmann::json& field(const char* key) const;
  [[noreturn]] void fail(const char* key, const char* expected) const;

  const nlohmann::json* object_;
  std::string path_;
};

}  // namespace lowtide::base
