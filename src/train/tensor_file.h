// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <map>
#include <string>

#include "train/named_tensor.h"

// Files of named tensors in the safetensors format, which Python reads too: eight bytes with the
// length of a JSON header, the header (type, shape and place of each tensor, and texts under
// "__metadata__"), then the tensors' elements. One of the texts, "digest", tells of damage.

namespace lowtide::train {

using Texts = std::map<std::string, std::string>;

// Puts the file there whole or not at all: it is written under the name <file>.part, brought to the
// disk and renamed. Nothing of it depends on anything but what is given here. Throws IoError, and
// then the old file is as it was. `session`: as for with_bytes().
void write_tensor_file(const std::filesystem::path& file, const Texts& texts, const State& state,
                       Session* session);

// The temporary name.
std::filesystem::path part_of(const std::filesystem::path& file);

struct TensorFile {
  Texts texts;
  // The tensors' memory is the file's, and gone when the last of them is: they are to be read only.
  std::map<std::string, at::Tensor> tensors;
};

// Throws IoError if the file cannot be read, InvalidInput if it is not such a file or is damaged.
TensorFile read_tensor_file(const std::filesystem::path& file);

}  // namespace lowtide::train
