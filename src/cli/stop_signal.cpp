// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "cli/stop_signal.h"

#include <array>
#include <csignal>

namespace lowtide::cli {
namespace {

constexpr std::array<int, 2> kSignals = {SIGINT, SIGTERM};

volatile std::sig_atomic_t has_come = 0;

void note(int) {
  has_come = 1;
  // The next one does what it does without us.
  for (const int signal : kSignals) std::signal(signal, SIG_DFL);
}

}  // namespace

StopSignal::StopSignal() {
  has_come = 0;
  for (const int signal : kSignals) std::signal(signal, note);
}

StopSignal::~StopSignal() {
  for (const int signal : kSignals) std::signal(signal, SIG_DFL);
}

bool StopSignal::came() { return has_come != 0; }

ExitCode unless_stopped(ExitCode code) {
  return StopSignal::came() ? ExitCode::kInterrupted : code;
}

}  // namespace lowtide::cli
