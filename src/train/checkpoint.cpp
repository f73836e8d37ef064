// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "train/checkpoint.h"

#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include "base/check.h"
#include "base/numbers.h"

namespace lowtide::train {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFormat = "lowtide-checkpoint 1";
constexpr const char* kStep = "step";

template <class Number>
void add(Texts& texts, const char* name, const std::optional<Number>& value) {
  if (value) texts[name] = base::concat(*value);
}

// So that it shows now, and not after an hour.
void require_writable(const fs::path& folder) {
  const std::string probe = folder / "writable.part";
  const int file = ::open(probe.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
  if (file < 0) {
    throw IoError(base::concat("cannot write to the checkpoint folder ", folder.string(), ": ",
                               std::strerror(errno)));
  }
  ::close(file);
  ::unlink(probe.c_str());
}

}  // namespace

Texts identity(const TrainingOptions& options) {
  Texts texts = {{"format", kFormat},
                 {"model", options.model},
                 {"data", options.data},
                 {"batch", std::to_string(options.batch)},
                 {"optimizer", options.optimizer},
                 {"amp", options.has_bf16 ? "bf16" : "off"},
                 {"seed", std::to_string(options.seed)}};
  const zoo::ModelOptions& model = options.model_options;
  add(texts, "channels", model.channels);
  add(texts, "size", model.size);
  add(texts, "classes", model.classes);
  add(texts, "layers", model.layers);
  add(texts, "width", model.width);
  add(texts, "heads", model.heads);
  add(texts, "context", model.context);
  add(texts, "vocabulary", model.vocabulary);
  add(texts, "dropout", model.dropout);
  add(texts, "auxiliary", model.auxiliary);
  return texts;
}

CheckpointFolder::CheckpointFolder(fs::path folder) : folder_(std::move(folder)) {
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error) {
    throw IoError(base::concat("cannot make the checkpoint folder ", folder_.string(), ": ",
                               error.message()));
  }
  opened_ = ::open(folder_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (opened_ < 0) {
    throw IoError(base::concat("cannot open the checkpoint folder ", folder_.string(), ": ",
                               std::strerror(errno)));
  }
  if (::flock(opened_, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
    ::close(opened_);
    throw IoError(base::concat("another training is using the checkpoint folder ", folder_.string(),
                               "; wait for it or name another"));
  }
  try {
    require_writable(folder_);
  } catch (...) {
    ::close(opened_);
    throw;
  }
}

CheckpointFolder::~CheckpointFolder() { ::close(opened_); }

fs::path CheckpointFolder::file() const { return folder_ / "checkpoint.safetensors"; }

bool CheckpointFolder::has_checkpoint() const { return fs::exists(file()); }

void CheckpointFolder::write(const Training& training, const TrainingOptions& options,
                             Session* session) const {
  Texts texts = identity(options);
  texts[kStep] = std::to_string(training.steps_done());
  write_tensor_file(file(), texts, training.state(), session);
}

void CheckpointFolder::load(Training& training, const TrainingOptions& options) const {
  const TensorFile saved = read_tensor_file(file());
  Texts texts = saved.texts;
  const auto step = base::parse_number<std::int64_t>(texts[kStep]);
  texts.erase(kStep);
  const Texts wanted = identity(options);
  // The first thing to say, though other things differ too then.
  LT_REQUIRE(texts["model"] == options.model, "the checkpoint is of another model, '",
             texts["model"], "', not of '", options.model, "': ", file().string());
  for (const auto& [name, value] : wanted) {
    LT_REQUIRE(texts[name] == value, "the checkpoint is of another training: its ", name, " is '",
               texts[name], "', not '", value, "': ", file().string());
  }
  for (const auto& [name, value] : texts) {
    LT_REQUIRE(wanted.contains(name), "the checkpoint is of another training: its ", name, " is ",
               value, ": ", file().string());
  }
  LT_REQUIRE(step && *step >= 0, "the checkpoint has no step: ", file().string());
  training.load(saved.tensors, *step);
}

}  // namespace lowtide::train
