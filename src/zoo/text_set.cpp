// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "zoo/text_set.h"

#include <algorithm>
#include <array>
#include <vector>

#include <ATen/ATen.h>

#include "base/check.h"

namespace lowtide::zoo {
namespace {

constexpr std::size_t kFewestBytes = 100;

class TextSet final : public DataSet {
 public:
  explicit TextSet(std::span<const std::uint8_t> text)
      : tokens_(text.begin(), text.end()), training_(text.size() - text.size() / 10) {
    std::array<bool, 256> occurs{};
    for (const std::uint8_t byte : text) occurs[byte] = true;
    std::array<std::uint8_t, 256> number{};
    for (std::size_t byte = 0; byte < occurs.size(); ++byte) {
      if (occurs[byte]) number[byte] = static_cast<std::uint8_t>(classes_++);
    }
    for (std::uint8_t& token : tokens_) token = number[token];
  }

  InputKind kind() const override { return InputKind::kTokens; }
  std::int64_t classes() const override { return classes_; }

  std::int64_t size(Part part, const InputShape& shape) const override {
    // The last token of all has no successor to be told from it.
    const auto tokens = static_cast<std::int64_t>(this->part(part).size()) - 1;
    return tokens / shape.context;
  }

  Batch batch(Part part, std::span<const std::int64_t> numbers,
              const InputShape& shape) const override {
    const std::int64_t length = shape.context;
    const auto count = static_cast<std::int64_t>(numbers.size());
    const at::Tensor inputs = at::empty({count, length}, at::kLong);
    const at::Tensor targets = at::empty({count, length}, at::kLong);
    auto* input = inputs.mutable_data_ptr<std::int64_t>();
    auto* target = targets.mutable_data_ptr<std::int64_t>();
    for (const std::int64_t number : numbers) {
      const std::uint8_t* const from = this->part(part).data() + number * length;
      input = std::copy_n(from, length, input);
      target = std::copy_n(from + 1, length, target);
    }
    return {inputs, targets};
  }

 private:
  std::span<const std::uint8_t> part(Part part) const {
    const std::span<const std::uint8_t> all = tokens_;
    return part == Part::kTraining ? all.first(training_) : all.subspan(training_);
  }

  std::vector<std::uint8_t> tokens_;
  std::size_t training_;
  std::int64_t classes_ = 0;
};

}  // namespace

std::unique_ptr<DataSet> make_text(std::span<const std::uint8_t> text, const std::string& name) {
  LT_REQUIRE(text.size() >= kFewestBytes, "the text is too short to train on: ", name, " has ",
             text.size(), " bytes");
  return std::make_unique<TextSet>(text);
}

}  // namespace lowtide::zoo
