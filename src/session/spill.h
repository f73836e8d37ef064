// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "lowtide/session.h"
#include "run/tier/spill_file.h"

namespace lowtide::session {

// The spill file that the options ask for; null if they ask for none. Throws InvalidInput for a
// folder that cannot be used, IoError for a disk that does not work; warns on stderr of a folder
// that everyone can write.
std::shared_ptr<tier::SpillFile> open_spill_file(const SessionOptions& options);

// Files that are opened from here on are read and written through what `wrap` makes of them: tests
// put faults there.
void wrap_spill_io(tier::WrapIo wrap);

}  // namespace lowtide::session
