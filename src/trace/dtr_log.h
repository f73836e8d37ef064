// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <string>
#include <string_view>

#include "lowtide/trace.h"

namespace lowtide::trace {

// Makes a trace from an operator log of the DTR prototype (Kirisame et al., "Dynamic Tensor
// Rematerialization", ICLR 2021; its simulator reads the same logs): one JSON object a line, where
// tensors are names over shared storages and a storage lives as long as any name for it.
//
//   CONSTANT, MEMORY     a source; it counts as there from the start of the step, wherever it
//   stands CALL, MEMORY, ALIAS  an op; a result with an alias is a view of that argument's storage.
//   What an
//                        op that makes only views looks through is not read.
//   MUTATE               an op that writes in place. (DTR copies the tensor before it; we do not.)
//   COPY, COPY_FROM, RELEASE
//                        names that come and go; the storage goes after the op before
//   ANNOTATE             START: what stands before it is left out. BACKWARD: the backward phase
//                        begins; without it, with the first op that has "backward" in its name.
//                        (With it names do not count: the logs call max_pool2d
//                        "max_pool2d_backward".)
//
// TIME is in nanoseconds (the prototype prints std::chrono::nanoseconds of wall time).
// Kinds: a constant is a parameter if it is alive at the end, else an input; what forward makes and
// backward uses is an activation; what backward makes and leaves behind is a gradient; the rest is
// temporary. Releases of unknown names are ignored, as the published simulator does.
//
// Throws InvalidInput naming the line.
Trace import_dtr_log(std::string_view text, std::string name);

}  // namespace lowtide::trace
