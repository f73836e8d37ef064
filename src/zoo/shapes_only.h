// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <c10/core/impl/LocalDispatchKeySet.h>

namespace lowtide::zoo {

// While it lives, what its thread makes has a shape but no memory (torch's device `meta`), as it is
// with torch.device("meta") in Python, for which C++ has nothing. So a model of any size can be
// made to be looked at.
class ShapesOnly {
 public:
  ShapesOnly();

 private:
  c10::impl::IncludeDispatchKeyGuard guard_;
};

}  // namespace lowtide::zoo
