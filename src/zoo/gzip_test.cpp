// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "zoo/gzip.h"

#include <gtest/gtest.h>

#include "lowtide/errors.h"
#include "zoo/embedded.h"

namespace lowtide::zoo {
namespace {

TEST(Gunzip, GivesWhatTheFileReaderGives) {
  const std::string file = "data/tiny-shakespeare/tiny-shakespeare.txt.gz";
  EXPECT_EQ(gunzip(embedded_tiny_shakespeare(), "embedded"),
            read_gzip(std::filesystem::path(LT_SOURCE_DIR) / file));
}

TEST(Gunzip, RefusesWhatIsCutShortOrDamaged) {
  const std::span<const std::uint8_t> whole = embedded_tiny_shakespeare();
  EXPECT_THROW(gunzip(whole.first(whole.size() / 2), "half"), InvalidInput);
  EXPECT_THROW(gunzip({}, "nothing"), InvalidInput);
  std::vector<std::uint8_t> damaged(whole.begin(), whole.end());
  damaged[damaged.size() / 2] ^= 1;
  EXPECT_THROW(gunzip(damaged, "damaged"), InvalidInput);
}

TEST(ReadGzip, OfAFolderIsAnErrorOfInput) { EXPECT_THROW(read_gzip(LT_SOURCE_DIR), IoError); }

}  // namespace
}  // namespace lowtide::zoo
