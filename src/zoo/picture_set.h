// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <memory>

#include "zoo/data_set.h"
#include "zoo/idx.h"

// Grey pictures with classes, in the form of MNIST. They are brought to the size that a model
// takes, bilinearly, and repeated for each of its channels; black is 0, white 1.

namespace lowtide::zoo {

struct LabelledPictures {
  // Number, height, width.
  IdxArray pictures;
  IdxArray labels;
};

// The first `training` of the pictures are to train on, the others to evaluate. Throws InvalidInput
// if there are not as many labels as pictures, or no pictures.
std::unique_ptr<DataSet> split_pictures(LabelledPictures all, std::int64_t training);

// From a folder with train-images-idx3-ubyte, train-labels-idx1-ubyte and the two t10k-* files,
// each gzipped (then .gz) or not. Throws as read_idx does.
std::unique_ptr<DataSet> read_pictures(const std::filesystem::path& folder);

}  // namespace lowtide::zoo
