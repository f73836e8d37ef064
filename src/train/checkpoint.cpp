// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "train/checkpoint.h"

#include <cerrno>
#include <cstring>
#include <system_error>
#include <utility>

#include <fcntl.h>
#include <nlohmann/json.hpp>
#include <sys/file.h>
#include <unistd.h>

#include "base/check.h"
#include "base/numbers.h"

namespace lowtide::train {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFormat = "lowtide-checkpoint 1";
constexpr const char* kStep = "step";
// These may change from one run to the next.
constexpr const char* kRate = "rate";
constexpr const char* kSchedule = "schedule";
constexpr const char* kWarmUp = "warm_up_steps";

template <class Number>
void add(Texts& texts, const char* name, const std::optional<Number>& value) {
  if (value) texts[name] = base::concat(*value);
}

// The header of the file is JSON: bytes that are no UTF-8, which the name of a file may have, are
// replaced.
std::string as_utf8(const std::string& text) {
  using nlohmann::json;
  return json::parse(json(text).dump(-1, ' ', false, json::error_handler_t::replace));
}

bool knows_no_nameless_files(int error) {
  return error == EOPNOTSUPP || error == EISDIR || error == EINVAL;
}

// So that it shows now, and not after an hour. Leaves nothing, whenever the process ends.
void require_writable(const fs::path& folder) {
  int error = 0;
  const int probe = ::open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
  if (probe >= 0) {
    ::close(probe);
  } else {
    error = errno;
    if (knows_no_nameless_files(error)) {
      error = ::faccessat(AT_FDCWD, folder.c_str(), W_OK | X_OK, AT_EACCESS) == 0 ? 0 : errno;
    }
  }
  if (error != 0) {
    throw IoError(base::concat("cannot write to the checkpoint folder ", folder.string(), ": ",
                               std::strerror(error)));
  }
}

void add(Texts& texts, const Schedule& schedule) {
  texts[kRate] = base::print_number(schedule.rate);
  texts[kSchedule] = name_of(schedule.kind);
  texts[kWarmUp] = std::to_string(schedule.warm_up_steps);
}

// Takes it out of the texts. Nothing if they have none of it.
std::optional<Schedule> take_schedule(Texts& texts, const fs::path& file) {
  if (!texts.contains(kRate)) return std::nullopt;
  const auto rate = base::parse_number<double>(texts[kRate]);
  const auto warm_up = base::parse_number<std::int64_t>(texts[kWarmUp]);
  LT_REQUIRE(rate && warm_up, "the checkpoint's schedule cannot be read: ", file.string());
  const Schedule schedule = {
      .kind = parse_schedule(texts[kSchedule]), .rate = *rate, .warm_up_steps = *warm_up};
  for (const char* name : {kRate, kSchedule, kWarmUp}) texts.erase(name);
  return schedule;
}

std::int64_t take_step(Texts& texts, const fs::path& file) {
  const auto step = base::parse_number<std::int64_t>(texts[kStep]);
  LT_REQUIRE(step && *step >= 0, "the checkpoint has no step: ", file.string());
  texts.erase(kStep);
  return *step;
}

}  // namespace

Texts identity(const TrainingOptions& options) {
  Texts texts = {{"format", kFormat},
                 {"model", options.model},
                 {"data", as_utf8(options.data)},
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

fs::path checkpoint_in(const fs::path& folder) { return folder / "checkpoint.safetensors"; }

bool has_checkpoint(const fs::path& folder) {
  const fs::path file = checkpoint_in(folder);
  std::error_code error;
  const bool is_there = fs::exists(file, error);
  if (error) {
    throw IoError(base::concat("cannot look at ", file.string(), ": ", error.message()));
  }
  return is_there;
}

std::optional<Schedule> load_checkpoint(const fs::path& folder, Training& training,
                                        const TrainingOptions& options) {
  const fs::path file = checkpoint_in(folder);
  const TensorFile saved = read_tensor_file(file);
  Texts texts = saved.texts;
  const Texts wanted = identity(options);
  // The first thing to say, though other things differ too then.
  LT_REQUIRE(texts["model"] == options.model, "the checkpoint is of another model, '",
             texts["model"], "', not of '", options.model, "': ", file.string());
  const std::int64_t step = take_step(texts, file);
  const std::optional<Schedule> schedule = take_schedule(texts, file);
  for (const auto& [name, value] : wanted) {
    LT_REQUIRE(texts[name] == value, "the checkpoint is of another training: its ", name, " is '",
               texts[name], "', not '", value, "': ", file.string());
  }
  for (const auto& [name, value] : texts) {
    LT_REQUIRE(wanted.contains(name), "the checkpoint is of another training: its ", name, " is ",
               value, ": ", file.string());
  }
  training.load(saved.tensors, step);
  return schedule;
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
  const bool is_ours = ::flock(opened_, LOCK_EX | LOCK_NB) == 0;
  if (!is_ours && errno == EWOULDBLOCK) {
    ::close(opened_);
    throw IoError(base::concat("another training is using the checkpoint folder ", folder_.string(),
                               "; wait for it or name another"));
  }
  // Where folders cannot be locked, another process may be writing to it.
  if (is_ours) ::unlink(part_of(file()).c_str());
  try {
    require_writable(folder_);
  } catch (...) {
    ::close(opened_);
    throw;
  }
}

CheckpointFolder::~CheckpointFolder() { ::close(opened_); }

fs::path CheckpointFolder::file() const { return checkpoint_in(folder_); }

bool CheckpointFolder::has_checkpoint() const { return train::has_checkpoint(folder_); }

void CheckpointFolder::write(const Training& training, const TrainingOptions& options,
                             Session* session) const {
  Texts texts = identity(options);
  texts[kStep] = std::to_string(training.steps_done());
  add(texts, options.schedule);
  write_tensor_file(file(), texts, training.state(), session);
}

std::optional<Schedule> CheckpointFolder::load(Training& training,
                                               const TrainingOptions& options) const {
  return load_checkpoint(folder_, training, options);
}

std::int64_t CheckpointFolder::steps_done() const {
  Texts texts = read_tensor_file(file()).texts;
  return take_step(texts, file());
}

}  // namespace lowtide::train
