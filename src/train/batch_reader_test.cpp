// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "train/batch_reader.h"

#include <thread>

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "lowtide/errors.h"

namespace lowtide::train {
namespace {

// Examples are their own numbers. Tells who reads them.
class NumberedSet final : public zoo::DataSet {
 public:
  zoo::InputKind kind() const override { return zoo::InputKind::kPictures; }
  std::int64_t classes() const override { return 2; }
  std::int64_t size(zoo::Part, const zoo::InputShape&) const override { return 10; }
  zoo::Batch batch(zoo::Part, std::span<const std::int64_t> numbers,
                   const zoo::InputShape&) const override {
    reader = std::this_thread::get_id();
    if (fails) throw IoError("the disk is gone");
    const std::vector<std::int64_t> list(numbers.begin(), numbers.end());
    return {at::tensor(list), at::tensor(list)};
  }

  mutable std::thread::id reader;
  bool fails = false;
};

class BatchReaderTest : public testing::Test {
 protected:
  BatchReader make(Reading reading) {
    return {data, zoo::InputShape{}, zoo::Batches(10, 3, /*seed=*/5), reading};
  }
  const std::shared_ptr<NumberedSet> data = std::make_shared<NumberedSet>();
};

TEST_F(BatchReaderTest, ReadsTheSameAheadOrNot) {
  BatchReader now = make(Reading::kWhenAsked);
  BatchReader ahead = make(Reading::kAhead);
  // Over the end of an epoch, and back as after a checkpoint.
  for (const std::int64_t step : {0, 1, 2, 3, 4, 2, 3, 9}) {
    EXPECT_TRUE(at::equal(now.take(step).inputs, ahead.take(step).inputs)) << step;
  }
}

TEST_F(BatchReaderTest, ReadsAheadInAnotherThreadOnly) {
  BatchReader now = make(Reading::kWhenAsked);
  now.take(0);
  EXPECT_EQ(data->reader, std::this_thread::get_id());
  now.wait_for(1);
  EXPECT_EQ(data->reader, std::this_thread::get_id());
  BatchReader ahead = make(Reading::kAhead);
  ahead.wait_for(0);
  EXPECT_NE(data->reader, std::this_thread::get_id());
}

TEST_F(BatchReaderTest, FailuresReachWhoTakesTheBatch) {
  BatchReader ahead = make(Reading::kAhead);
  data->fails = true;
  ahead.wait_for(0);
  EXPECT_THROW(ahead.take(0), IoError);
  data->fails = false;
  EXPECT_EQ(ahead.take(0).inputs.numel(), 3);
}

}  // namespace
}  // namespace lowtide::train
