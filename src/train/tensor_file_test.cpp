// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "train/tensor_file.h"

#include <filesystem>
#include <fstream>
#include <iterator>

#include <gtest/gtest.h>
#include <torch/torch.h>
#include <unistd.h>

#include "lowtide/errors.h"

namespace lowtide::train {
namespace {

namespace fs = std::filesystem;

// A folder of this test alone, gone at its end.
class TensorFiles : public testing::Test {
 protected:
  TensorFiles() { fs::create_directory(folder_); }
  ~TensorFiles() override { fs::remove_all(folder_); }

  std::string contents() const {
    std::ifstream in(file_, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }
  void put(const std::string& bytes) const { std::ofstream(file_, std::ios::binary) << bytes; }

  const fs::path folder_ =
      fs::temp_directory_path() / ("lowtide_tensor_file_" + std::to_string(getpid()) + "_" +
                                   testing::UnitTest::GetInstance()->current_test_info()->name());
  const fs::path file_ = folder_ / "state";
  const Texts texts_ = {{"model", "tiny"}, {"step", "3"}};
  const State state_ = {{"weight", torch::arange(6).to(at::kFloat).view({2, 3})},
                        {"turned", torch::arange(6).view({2, 3}).t()},
                        {"number", torch::tensor(7.5, at::kDouble)},
                        {"half", torch::tensor({1.5, -2.0}).to(at::kBFloat16)},
                        {"nothing", torch::empty({0, 3})}};
};

TEST_F(TensorFiles, GiveBackWhatWasPutIn) {
  write_tensor_file(file_, texts_, state_, nullptr);
  const TensorFile read = read_tensor_file(file_);
  EXPECT_EQ(read.texts, texts_);
  ASSERT_EQ(read.tensors.size(), state_.size());
  for (const NamedTensor& item : state_) {
    const at::Tensor& got = read.tensors.at(item.name);
    EXPECT_EQ(got.scalar_type(), item.tensor.scalar_type()) << item.name;
    EXPECT_TRUE(torch::equal(got, item.tensor)) << item.name;
  }
}

TEST_F(TensorFiles, AreTheSameForTheSameState) {
  write_tensor_file(file_, texts_, state_, nullptr);
  const std::string first = contents();
  write_tensor_file(file_, texts_, state_, nullptr);
  EXPECT_EQ(contents(), first);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1);
}

TEST_F(TensorFiles, OutliveTheReader) {
  write_tensor_file(file_, texts_, state_, nullptr);
  const at::Tensor weight = read_tensor_file(file_).tensors.at("weight");
  fs::remove(file_);
  EXPECT_TRUE(torch::equal(weight, state_[0].tensor));
}

TEST_F(TensorFiles, WithAnyBitTurnedAreRefused) {
  write_tensor_file(file_, texts_, state_, nullptr);
  const std::string good = contents();
  for (std::size_t i = 0; i < good.size(); ++i) {
    std::string bad = good;
    bad[i] = static_cast<char>(bad[i] ^ (1 << (i % 8)));
    put(bad);
    EXPECT_THROW(read_tensor_file(file_), InvalidInput) << "byte " << i;
  }
}

TEST_F(TensorFiles, ThatAreCutShortAnywhereAreRefused) {
  write_tensor_file(file_, texts_, state_, nullptr);
  const std::string good = contents();
  for (std::size_t length = 0; length < good.size(); ++length) {
    put(good.substr(0, length));
    EXPECT_THROW(read_tensor_file(file_), InvalidInput) << length;
  }
}

TEST_F(TensorFiles, ThatCannotBeWrittenLeaveTheOldOne) {
  write_tensor_file(file_, texts_, state_, nullptr);
  fs::create_directory(folder_ / "state.part");
  EXPECT_THROW(write_tensor_file(file_, {}, {}, nullptr), IoError);
  EXPECT_EQ(read_tensor_file(file_).texts, texts_);
  EXPECT_THROW(write_tensor_file(file_ / "x", texts_, state_, nullptr), IoError);
  EXPECT_THROW(read_tensor_file(folder_ / "nowhere"), IoError);
}

}  // namespace
}  // namespace lowtide::train
