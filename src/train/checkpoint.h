// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

#include "train/tensor_file.h"
#include "train/training.h"

namespace lowtide::train {

// The folder in which a training keeps its checkpoint: one file, which is always whole. While this
// lives, no other process takes the same folder.
class CheckpointFolder {
 public:
  // Makes the folder if it is not there, and removes what a process that was killed while it wrote
  // left beside the checkpoint. Throws IoError if making it or writing to it is not possible, or
  // another process has it.
  explicit CheckpointFolder(std::filesystem::path folder);
  ~CheckpointFolder();
  CheckpointFolder(const CheckpointFolder&) = delete;
  CheckpointFolder& operator=(const CheckpointFolder&) = delete;

  std::filesystem::path file() const;
  bool has_checkpoint() const;
  // Throws IoError; the checkpoint before is then as it was.
  void write(const Training& training, const TrainingOptions& options, Session* session) const;
  // Gives the schedule that the training had; nothing if the checkpoint is of a version that did
  // not keep it. Throws InvalidInput if the checkpoint is damaged, or of a training with other
  // options, save for the schedule.
  std::optional<Schedule> load(Training& training, const TrainingOptions& options) const;
  // How far the training had come. Requires: there is a checkpoint. Throws as load() does.
  std::int64_t steps_done() const;

 private:
  const std::filesystem::path folder_;
  int opened_ = -1;
};

// The checkpoint of this folder, be it there or not.
std::filesystem::path checkpoint_in(const std::filesystem::path& folder);

// Whether it is there. Throws IoError if that cannot be told.
bool has_checkpoint(const std::filesystem::path& folder);

// As CheckpointFolder::load(), for those who only read: the folder is not changed, and may be in
// use by a training, since its file is always whole.
std::optional<Schedule> load_checkpoint(const std::filesystem::path& folder, Training& training,
                                        const TrainingOptions& options);

// What of the options a checkpoint belongs to: all that may not change from one run to the next.
Texts identity(const TrainingOptions& options);

}  // namespace lowtide::train
