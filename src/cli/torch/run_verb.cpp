// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "cli/torch/run_verb.h"

#include <chrono>
#include <string>

#include <c10/util/Exception.h>

#include "base/check.h"
#include "cli/stop_signal.h"

namespace lowtide::cli {
namespace {

double now_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

std::string first_line(const c10::Error& error) {
  const std::string text = error.what_without_backtrace();
  return text.substr(0, text.find('\n'));
}

}  // namespace

void run_with_progress(Console& console, std::int64_t batch,
                       const std::function<void(const train::Hooks&)>& work) {
  const StopSignal signal;
  ProgressLine line(console, batch);
  const train::Hooks hooks = {
      .on_step = [&](const train::Progress& progress) { line.show(progress, now_seconds()); },
      .on_evaluation =
          [&](const train::DatedEvaluation& dated) { line.say(evaluation_text(dated)); },
      .say = [&](const std::string& message) { line.say(message); },
      .is_stopped = [] { return StopSignal::came(); }};
  try {
    work(hooks);
  } catch (const c10::OutOfMemoryError& error) {
    line.end();
    throw OutOfMemory(
        base::concat("the device's memory ran out; give a --budget in bytes: ", first_line(error)));
  } catch (const c10::Error& error) {
    line.end();
    throw Error(base::concat("torch refuses: ", first_line(error)));
  } catch (...) {
    line.end();
    throw;
  }
  line.end();
}

ExitCode stopped_before_recording(Console& console) {
  console.err << "stopped before a step was recorded; nothing was written" << std::endl;
  return ExitCode::kInterrupted;
}

}  // namespace lowtide::cli
