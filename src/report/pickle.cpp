// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "report/pickle.h"

#include <algorithm>
#include <cstdint>
#include <limits>
#include <utility>

#include "base/check.h"

namespace lowtide::report {
namespace {

using nlohmann::json;

// As Python does it; a reader may put all of a batch on its stack.
constexpr std::size_t kBatch = 1000;

class Pickler {
 public:
  std::string pickle(const json& document) {
    text_ = "\x80\x02";
    put(document);
    text_ += '.';
    return std::move(text_);
  }

 private:
  void put(const json& value) {
    if (value.is_object()) return put_object(value);
    if (value.is_array()) return put_array(value);
    if (value.is_string()) return put_string(value.get_ref<const std::string&>());
    if (value.is_number_integer()) return put_integer(value.get<std::int64_t>());
    if (value.is_boolean()) {
      text_ += value.get<bool>() ? '\x88' : '\x89';
      return;
    }
    LT_CHECK(value.is_null(), "a pickle has no ", value.type_name());
    text_ += 'N';
  }

  void put_bytes(std::uint64_t number, int count) {
    for (int i = 0; i < count; ++i) text_ += static_cast<char>(number >> (8 * i) & 0xFFU);
  }

  void put_integer(std::int64_t number) {
    const bool is_short = number >= std::numeric_limits<std::int32_t>::min() &&
                          number <= std::numeric_limits<std::int32_t>::max();
    text_ += is_short ? "J" : "\x8a\x08";
    put_bytes(static_cast<std::uint64_t>(number), is_short ? 4 : 8);
  }

  void put_string(const std::string& string) {
    text_ += 'X';
    put_bytes(string.size(), 4);
    text_ += string;
  }

  void put_array(const json& array) {
    text_ += ']';
    for (std::size_t i = 0; i < array.size(); i += kBatch) {
      text_ += '(';
      for (std::size_t k = i; k < std::min(i + kBatch, array.size()); ++k) put(array[k]);
      text_ += 'e';
    }
  }

  void put_object(const json& object) {
    text_ += '}';
    if (object.empty()) return;
    text_ += '(';
    for (const auto& [key, value] : object.items()) {
      put_string(key);
      put(value);
    }
    text_ += 'u';
  }

  std::string text_;
};

}  // namespace

std::string pickled(const json& document) { return Pickler().pickle(document); }

}  // namespace lowtide::report
