// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "train/checkpoint.h"

#include <fstream>
#include <iterator>
#include <string>

#include <gtest/gtest.h>
#include <unistd.h>

namespace lowtide::train {
namespace {

namespace fs = std::filesystem;

class Checkpoint : public testing::Test {
 protected:
  Checkpoint() {
    options_.model = "lenet5";
    options_.batch = 4;
    options_.schedule = {.kind = Schedule::Kind::kCosine, .rate = 0.3, .warm_up_steps = 7};
    data_ = open_data_for(options_);
  }
  ~Checkpoint() override { fs::remove_all(path_); }

  const fs::path path_ =
      fs::temp_directory_path() / ("lowtide_checkpoint_" + std::to_string(getpid()) + "_" +
                                   testing::UnitTest::GetInstance()->current_test_info()->name());
  TrainingOptions options_;
  std::shared_ptr<const zoo::DataSet> data_;
};

TEST_F(Checkpoint, LooksWhetherItCanWriteWithoutTouchingAnything) {
  fs::create_directories(path_);
  std::ofstream(path_ / "writable.part") << "the user's";
  const CheckpointFolder folder(path_);
  std::ifstream file(path_ / "writable.part");
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), "the user's");
  EXPECT_FALSE(folder.has_checkpoint());
}

TEST_F(Checkpoint, RemovesWhatAKilledProcessLeftBesideIt) {
  fs::create_directories(path_);
  std::ofstream(part_of(checkpoint_in(path_))) << "half of it";
  const CheckpointFolder folder(path_);
  EXPECT_TRUE(fs::is_empty(path_));
}

TEST_F(Checkpoint, IsReadWithoutAChangeToTheFolderThatATrainingUses) {
  EXPECT_FALSE(has_checkpoint(path_));
  EXPECT_FALSE(fs::exists(path_));
  const CheckpointFolder folder(path_);
  Training training(options_, data_);
  training.step();
  folder.write(training, options_, nullptr);
  std::ofstream(part_of(folder.file())) << "being written";
  EXPECT_TRUE(has_checkpoint(path_));
  Training again(options_, data_);
  load_checkpoint(path_, again, options_);
  EXPECT_EQ(again.steps_done(), 1);
  EXPECT_TRUE(fs::exists(part_of(folder.file())));
}

TEST_F(Checkpoint, GivesTheScheduleBack) {
  const CheckpointFolder folder(path_);
  Training training(options_, data_);
  training.step();
  folder.write(training, options_, nullptr);
  EXPECT_EQ(folder.steps_done(), 1);
  // A schedule of one's own is no reason to refuse it.
  TrainingOptions other = options_;
  other.schedule = {};
  Training again(other, data_);
  const std::optional<Schedule> schedule = folder.load(again, other);
  ASSERT_TRUE(schedule);
  EXPECT_EQ(differences(*schedule, options_.schedule), "");
  EXPECT_EQ(again.steps_done(), 1);
}

TEST_F(Checkpoint, OfBeforeSchedulesWereKeptIsRead) {
  const CheckpointFolder folder(path_);
  Training training(options_, data_);
  Texts texts = identity(options_);
  texts["step"] = "5";
  write_tensor_file(folder.file(), texts, training.state(), nullptr);
  EXPECT_EQ(folder.load(training, options_), std::nullopt);
  EXPECT_EQ(training.steps_done(), 5);
}

}  // namespace
}  // namespace lowtide::train
