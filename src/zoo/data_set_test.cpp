// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "zoo/data_set.h"

#include <filesystem>
#include <fstream>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <torch/torch.h>
#include <unistd.h>

#include "lowtide/errors.h"

namespace lowtide::zoo {
namespace {

using testing::HasSubstr;

namespace fs = std::filesystem;

const std::vector<std::int64_t> kNumbers = {5, 0, 7};

InputShape pictures(std::int64_t channels, std::int64_t size) {
  InputShape shape;
  shape.channels = channels;
  shape.size = size;
  shape.classes = 10;
  return shape;
}

InputShape tokens(std::int64_t context) {
  InputShape shape;
  shape.kind = InputKind::kTokens;
  shape.context = context;
  shape.vocabulary = 100;
  return shape;
}

// A file of this test alone, gone at its end.
class DataFile : public testing::Test {
 protected:
  ~DataFile() override { fs::remove_all(path_); }

  std::string refusal(InputKind kind) const {
    try {
      open_data(path_, kind);
    } catch (const Error& error) {
      return error.what();
    }
    return "(none)";
  }

  const fs::path path_ =
      fs::temp_directory_path() / ("lowtide_data_set_" + std::to_string(getpid()) + "_" +
                                   testing::UnitTest::GetInstance()->current_test_info()->name());
};

TEST(DataThatCannotBeLookedAt, IsSaid) {
  const std::string overlong(5000, 'x');
  for (const InputKind kind : {InputKind::kPictures, InputKind::kTokens}) {
    try {
      open_data(overlong, kind);
      FAIL() << "opened it";
    } catch (const IoError& error) {
      EXPECT_THAT(error.what(), HasSubstr("File name too long"));
    }
  }
}

TEST(FashionMnistSet, IsLinkedInAndSplit) {
  const auto data = open_data("fashion-mnist", InputKind::kPictures);
  const InputShape shape = pictures(1, 28);
  EXPECT_EQ(data->classes(), 10);
  EXPECT_EQ(data->size(Part::kTraining, shape), 8000);
  EXPECT_EQ(data->size(Part::kEvaluation, shape), 2000);
  const Batch batch = data->batch(Part::kTraining, kNumbers, shape);
  EXPECT_EQ(batch.inputs.sizes(), (at::IntArrayRef{3, 1, 28, 28}));
  EXPECT_EQ(batch.targets.sizes(), (at::IntArrayRef{3}));
  EXPECT_EQ(batch.inputs.max().item<float>(), 1);
  const Batch other = data->batch(Part::kEvaluation, kNumbers, shape);
  EXPECT_FALSE(torch::equal(batch.inputs, other.inputs));
}

TEST(FashionMnistSet, IsBroughtToTheSizeAndChannelsOfAModel) {
  const auto data = open_data("fashion-mnist", InputKind::kPictures);
  const at::Tensor grey = data->batch(Part::kTraining, kNumbers, pictures(1, 28)).inputs;
  const at::Tensor large = data->batch(Part::kTraining, kNumbers, pictures(3, 56)).inputs;
  ASSERT_EQ(large.sizes(), (at::IntArrayRef{3, 3, 56, 56}));
  EXPECT_TRUE(torch::equal(large.select(1, 0), large.select(1, 2)));
  // Two by two points of the large picture are, on the average, about one of the small.
  const at::Tensor back = torch::avg_pool2d(large.narrow(1, 0, 1), 2);
  EXPECT_LT((back - grey).abs().mean().item<float>(), 0.03F);
}

TEST(FashionMnistSet, HasAClassForEveryPointThatIsNotBlack) {
  const auto data = open_data("fashion-mnist", InputKind::kPictures);
  InputShape shape = pictures(3, 28);
  const at::Tensor classes = data->batch(Part::kTraining, kNumbers, shape).targets;
  shape.is_dense = true;
  const Batch batch = data->batch(Part::kTraining, kNumbers, shape);
  ASSERT_EQ(batch.targets.sizes(), (at::IntArrayRef{3, 28, 28}));
  const at::Tensor black = batch.inputs.select(1, 0).eq(0);
  EXPECT_TRUE(batch.targets.masked_select(black).eq(kNoTarget).all().item<bool>());
  const at::Tensor wanted = classes.view({3, 1, 1}).expand({3, 28, 28});
  EXPECT_TRUE(batch.targets.eq(wanted).logical_or(black).all().item<bool>());
}

TEST(TinyShakespeareSet, TargetsAreTheTokensThatComeNext) {
  const auto data = open_data("tiny-shakespeare", InputKind::kTokens);
  EXPECT_EQ(data->classes(), 65);
  EXPECT_EQ(data->size(Part::kTraining, tokens(100)), 10038);
  EXPECT_EQ(data->size(Part::kEvaluation, tokens(100)), 1115);
  const std::vector<std::int64_t> two = {0, 1};
  const Batch batch = data->batch(Part::kTraining, two, tokens(8));
  const at::Tensor first = batch.inputs[0], next = batch.targets[0];
  EXPECT_TRUE(torch::equal(first.narrow(0, 1, 7), next.narrow(0, 0, 7)));
  EXPECT_TRUE(torch::equal(next[7], batch.inputs[1][0]));
}

TEST(TinyShakespeareSet, HidesTokensFromModelsThatTellThem) {
  const auto data = open_data("tiny-shakespeare", InputKind::kTokens);
  InputShape shape = tokens(200);
  const at::Tensor text = data->batch(Part::kTraining, kNumbers, shape).inputs;
  shape.is_masked = true;
  const Batch batch = data->batch(Part::kTraining, kNumbers, shape);
  const at::Tensor hidden = batch.inputs.eq(data->classes());
  EXPECT_TRUE(torch::equal(batch.inputs.masked_fill(hidden, 0), text.masked_fill(hidden, 0)));
  EXPECT_TRUE(torch::equal(batch.targets, text.masked_fill(hidden.logical_not(), kNoTarget)));
  EXPECT_NEAR(hidden.to(at::kFloat).mean().item<float>(), 1.0 / 7, 0.05);
  shape.context = 1;
  EXPECT_TRUE(
      data->batch(Part::kTraining, kNumbers, shape).targets.ne(kNoTarget).all().item<bool>());
}

TEST(SyntheticSet, FollowsFromTheNumbersOfItsExamples) {
  for (const auto& [kind, shape] : {std::pair(InputKind::kPictures, pictures(3, 9)),
                                    std::pair(InputKind::kTokens, tokens(9))}) {
    const auto data = open_data("synthetic", kind);
    EXPECT_EQ(data->size(Part::kEvaluation, shape), 0);
    const Batch all = data->batch(Part::kTraining, kNumbers, shape);
    const std::vector<std::int64_t> last = {7};
    const Batch one = data->batch(Part::kTraining, last, shape);
    EXPECT_TRUE(torch::equal(all.inputs[2], one.inputs[0]));
    EXPECT_TRUE(torch::equal(all.targets[2], one.targets[0]));
    EXPECT_FALSE(torch::equal(all.inputs[0], one.inputs[0]));
  }
}

TEST_F(DataFile, OfTextIsRead) {
  std::ofstream(path_) << std::string(200, 'b') + std::string(200, 'a') + "c";
  const auto data = open_data(path_, InputKind::kTokens);
  EXPECT_EQ(data->classes(), 3);
  const std::vector<std::int64_t> first = {0};
  EXPECT_TRUE(data->batch(Part::kTraining, first, tokens(5)).inputs.eq(1).all().item<bool>());
}

TEST_F(DataFile, ThatIsOfNoUseIsRefused) {
  EXPECT_THAT(refusal(InputKind::kTokens), HasSubstr("no such data"));
  std::ofstream(path_) << "short";
  EXPECT_THAT(refusal(InputKind::kTokens), HasSubstr("too short to train on"));
  std::ofstream(path_) << std::string(1000, 'x');
  EXPECT_THAT(refusal(InputKind::kPictures), HasSubstr("the model takes pictures"));
  fs::remove(path_);
  fs::create_directory(path_);
  EXPECT_THAT(refusal(InputKind::kPictures), HasSubstr("has no train-images-idx3-ubyte[.gz]"));
}

TEST_F(DataFile, OfPicturesIsReadFromItsFolder) {
  fs::create_directory(path_);
  const fs::path source = fs::path(LT_SOURCE_DIR) / "data/fashion-mnist";
  for (const char* name : {"-images-idx3-ubyte.gz", "-labels-idx1-ubyte.gz"}) {
    for (const char* part : {"t10k", "train"}) {
      fs::copy_file(source / (std::string("t10k") + name), path_ / (std::string(part) + name));
    }
  }
  const auto data = open_data(path_, InputKind::kPictures);
  EXPECT_EQ(data->size(Part::kTraining, pictures(1, 28)), 10000);
  EXPECT_EQ(data->size(Part::kEvaluation, pictures(1, 28)), 10000);
  fs::resize_file(path_ / "train-images-idx3-ubyte.gz", 100000);
  EXPECT_THAT(refusal(InputKind::kPictures), HasSubstr("train-images"));
}

}  // namespace
}  // namespace lowtide::zoo
