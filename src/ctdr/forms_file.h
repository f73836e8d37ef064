// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <filesystem>
#include <functional>
#include <string>

#include "ctdr/dense_model.h"

// Forms of layers as users write them down: {"conv1": "tucker2 16x24", "fc": "svd 64"}.

namespace lowtide::ctdr {

// Of such a JSON text; layers may be dense in it. Throws InvalidInput for anything else.
Forms parse_forms(const std::string& text);

// Of a file with it. Throws IoError too.
Forms read_forms(const std::filesystem::path& file);

// Gives a new model the forms, for TrainingOptions::prepare. The factors are random numbers whose
// product varies as the dense weight does, so that the model can be trained from its beginning.
// What is returned throws InvalidInput for a layer that is not there or cannot have its form.
std::function<void(torch::nn::Module&)> forms_starter(Forms forms);

}  // namespace lowtide::ctdr
