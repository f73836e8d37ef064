// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "trace/frees.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "trace/text.h"

namespace lowtide::trace {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

// a dies with its last use, b later, v with a view, x unused, y unused and freed late.
Trace example() {
  return parse_text(
      "lowtide-trace 1\nname t\nstorage a 1 temporary\nstorage b 1 temporary\n"
      "storage v 1 temporary\nstorage x 1 input start\nstorage y 1 input start\n"
      "storage kept 1 parameter start end\n"
      "op f forward : -> a b v\nop g forward : a b ->\nop h forward : -> | v free b y\n");
}

TEST(FreesByOp, ListEveryReleaseOnce) {
  EXPECT_THAT(frees_by_op(example()),
              ElementsAre(ElementsAre(StorageId{3}), ElementsAre(StorageId{0}),
                          ElementsAre(StorageId{1}, StorageId{2}, StorageId{4})));
}

TEST(LateFrees, ListOnlyReleasesThatComeAfterTheLastUse) {
  EXPECT_THAT(late_frees(example()),
              ElementsAre(IsEmpty(), IsEmpty(), ElementsAre(StorageId{1}, StorageId{4})));
}

}  // namespace
}  // namespace lowtide::trace
