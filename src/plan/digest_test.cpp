// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include <gtest/gtest.h>

#include "plan/fixture_test.h"

namespace lowtide::plan {
namespace {

std::string digest_of(const std::string& lines) { return digest(*problem_of(lines).trace); }

struct Change {
  const char* name;
  const char* from;
  const char* to;
};

std::ostream& operator<<(std::ostream& out, const Change& row) { return out << row.name; }

const std::string kLines = R"(
storage w 1 parameter start end codec=half:4:1:1
storage a 10 activation
storage d 1 activation end
op f forward device=2 host=3 flops=4 accessed=5 layer=l option=lean:3:1 : w -> a
op g forward workspace=2 : a -> d
op h forward : d -> d
)";

std::string changed(const Change& change) {
  std::string lines = kLines;
  lines.replace(lines.find(change.from), std::string(change.from).size(), change.to);
  return digest_of(lines);
}

class Structure : public testing::TestWithParam<Change> {};

TEST_P(Structure, ChangesTheDigest) { EXPECT_NE(changed(GetParam()), digest_of(kLines)); }

INSTANTIATE_TEST_SUITE_P(
    Rows, Structure,
    testing::Values(
        Change{"storage_name", "storage a", "storage a2 1 activation start\nstorage a"},
        Change{"bytes", "a 10", "a 11"}, Change{"kind", "a 10 activation", "a 10 temporary"},
        Change{"pinned", "d 1 activation end", "d 1 activation end pinned"},
        Change{"codec_name", "codec=half", "codec=zip"}, Change{"codec_bytes", "half:4", "half:3"},
        Change{"codec_lossy", "half:4:1:1", "half:4:1:1:lossy"}, Change{"op_name", "op f", "op k"},
        Change{"phase", "op f forward", "op f other"},
        Change{"read", "g forward workspace=2 : a ", "g forward workspace=2 : a w "},
        Change{"side_effect", ": w -> a", ": ~w -> a"}, Change{"write", ": d -> d", ": d -> d w"},
        Change{"view", ": d -> d", ": d -> d | w"}, Change{"free", ": d -> d", ": d -> d free a"},
        Change{"workspace", "workspace=2", "workspace=3"},
        Change{"once", "op g forward", "op g forward once"},
        Change{"random", "op g forward", "op g forward random"},
        Change{"option_name", "lean:3:1", "thin:3:1"},
        Change{"option_workspace", "lean:3:1", "lean:3:2"},
        Change{"option_host", "lean:3:1", "lean:3:1:host"}),
    [](const auto& row) { return std::string(row.param.name); });

class Measurement : public testing::TestWithParam<Change> {};

TEST_P(Measurement, LeavesTheDigestAlone) { EXPECT_EQ(changed(GetParam()), digest_of(kLines)); }

INSTANTIATE_TEST_SUITE_P(Rows, Measurement,
                         testing::Values(Change{"device", "device=2", "device=9"},
                                         Change{"unmeasured", "device=2 ", ""},
                                         Change{"host", "host=3", "host=9"},
                                         Change{"flops", "flops=4", "flops=9"},
                                         Change{"accessed", "accessed=5", "accessed=9"},
                                         Change{"layer", "layer=l", "layer=m"},
                                         Change{"codec_seconds", "half:4:1:1", "half:4:7:8"},
                                         Change{"option_seconds", "lean:3:1", "lean:4:1"}),
                         [](const auto& row) { return std::string(row.param.name); });

TEST(Digest, IsSixteenHexadecimalDigits) {
  const std::string text = digest_of(kLines);
  EXPECT_EQ(text.size(), 16U);
  EXPECT_EQ(text.find_first_not_of("0123456789abcdef"), std::string::npos);
}

}  // namespace
}  // namespace lowtide::plan
