// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

namespace lowtide::cli {

// Puts `content` into the file `path` so that a reader sees the old file or the whole new one and
// never a part: it is written under a temporary name in the same folder, brought to the disk and
// renamed. An existing file keeps its permissions, a symbolic link its target; what is no plain
// file (a pipe, /dev/null) is written to directly. Throws IoError and leaves the old file as it
// was.
void write_output_file(const std::string& path, std::string_view content);

// Throws as write_output_file would, as far as that can be told without writing.
void require_writable(const std::string& path);

// Writes all of `content` to an open file. Throws IoError naming `name`; returns false if nobody
// reads the other end of a pipe any more.
bool write_all(int file, std::string_view content, const std::string& name);

}  // namespace lowtide::cli
