// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "zoo/text_set.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/check.h"
#include "base/random.h"
#include "zoo/owned_tensor.h"

namespace lowtide::zoo {
namespace {

constexpr std::size_t kFewestBytes = 100;
// Devlin et al. 2018, section 3.1, hide 15 %.
constexpr std::uint64_t kHiddenOneIn = 7;

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
    std::vector<std::int64_t> inputs(static_cast<std::size_t>(count * length));
    std::vector<std::int64_t> targets(inputs.size());
    std::int64_t* input = inputs.data();
    std::int64_t* target = targets.data();
    for (const std::int64_t number : numbers) {
      const std::uint8_t* const from = this->part(part).data() + number * length;
      if (shape.is_masked) {
        mask({from, static_cast<std::size_t>(length)}, number, input, target);
      } else {
        std::copy_n(from, length, input);
        std::copy_n(from + 1, length, target);
      }
      input += length;
      target += length;
    }
    return {owned_tensor(std::move(inputs), {count, length}),
            owned_tensor(std::move(targets), {count, length})};
  }

 private:
  std::span<const std::uint8_t> part(Part part) const {
    const std::span<const std::uint8_t> all = tokens_;
    return part == Part::kTraining ? all.first(training_) : all.subspan(training_);
  }

  // Hides tokens of one example, at least one. Follows from the example's number.
  void mask(std::span<const std::uint8_t> tokens, std::int64_t number, std::int64_t* input,
            std::int64_t* target) const {
    base::Random random(static_cast<std::uint64_t>(number));
    const std::uint64_t always = random.below(tokens.size());
    for (std::size_t i = 0; i < tokens.size(); ++i) {
      const bool is_hidden = random.below(kHiddenOneIn) == 0 || i == always;
      input[i] = is_hidden ? classes_ : tokens[i];
      target[i] = is_hidden ? tokens[i] : kNoTarget;
    }
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
