// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "zoo/idx.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>
#include <zlib.h>

#include "lowtide/errors.h"

namespace lowtide::zoo {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

namespace fs = std::filesystem;

// A file of this test alone, gone at its end.
class Idx : public testing::Test {
 protected:
  ~Idx() override { fs::remove(path_); }

  const fs::path& write(const std::string& bytes) {
    std::ofstream(path_, std::ios::binary) << bytes;
    return path_;
  }

  const fs::path& write_gzipped(const std::string& bytes) {
    const gzFile file = gzopen(path_.c_str(), "wb");
    gzwrite(file, bytes.data(), static_cast<unsigned>(bytes.size()));
    gzclose(file);
    return path_;
  }

  std::string refusal(const std::string& bytes) {
    try {
      read_idx(write(bytes));
    } catch (const InvalidInput& error) {
      return error.what();
    }
    return "(none)";
  }

  const fs::path path_ =
      fs::temp_directory_path() / ("lowtide_idx_test_" + std::to_string(getpid()) + "_" +
                                   testing::UnitTest::GetInstance()->current_test_info()->name());
};

std::string bytes(std::initializer_list<int> values) {
  std::string result;
  for (const int value : values) result.push_back(static_cast<char>(value));
  return result;
}

// Two rows of three.
const std::string kSmall = bytes({0, 0, 8, 2, 0, 0, 0, 2, 0, 0, 0, 3, 1, 2, 3, 4, 5, 255});

TEST_F(Idx, IsReadWhetherGzippedOrNot) {
  for (const fs::path& file : {write(kSmall), write_gzipped(kSmall)}) {
    const IdxArray array = read_idx(file);
    EXPECT_THAT(array.sizes, ElementsAre(2, 3));
    EXPECT_THAT(array.elements, ElementsAre(1, 2, 3, 4, 5, 255));
  }
}

TEST_F(Idx, MayHaveNoElements) {
  const IdxArray array = read_idx(write(bytes({0, 0, 8, 2, 0, 0, 0, 0, 0, 0, 0, 3})));
  EXPECT_THAT(array.sizes, ElementsAre(0, 3));
  EXPECT_TRUE(array.elements.empty());
}

TEST_F(Idx, ThatIsNoneIsRefusedWithWhatToDo) {
  EXPECT_THAT(refusal(""), HasSubstr("is empty; fetch it again"));
  EXPECT_THAT(refusal("P5 28 28 255"), HasSubstr("not an IDX file"));
  EXPECT_THAT(refusal(bytes({0, 0})), HasSubstr("not an IDX file"));
  EXPECT_THAT(refusal(bytes({0, 0, 13, 1, 0, 0, 0, 0})), HasSubstr("type 13"));
  EXPECT_THAT(refusal(bytes({0, 0, 8, 0})), HasSubstr("no dimensions"));
}

TEST_F(Idx, ThatIsCutShortOrTooLongIsRefused) {
  EXPECT_THAT(refusal(kSmall.substr(0, 10)), HasSubstr("ends within its sizes"));
  EXPECT_THAT(refusal(kSmall.substr(0, 15)), HasSubstr("has 3 of 6 elements"));
  EXPECT_THAT(refusal(kSmall + "x"), HasSubstr("goes on after its last element"));
}

TEST_F(Idx, WithSizesThatCannotBeIsRefusedAtOnce) {
  EXPECT_THAT(
      refusal(bytes({0, 0, 8, 3, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255, 255})),
      HasSubstr("more elements than can be"));
  EXPECT_THAT(refusal(bytes({0, 0, 8, 1, 127, 255, 255, 255, 1})),
              HasSubstr("has 1 of 2147483647 elements"));
}

TEST_F(Idx, WhoseGzipStreamBreaksOffIsRefused) {
  write_gzipped(kSmall + std::string(100000, 'x'));
  fs::resize_file(path_, fs::file_size(path_) / 2);
  EXPECT_THROW(read_idx(path_), InvalidInput);
}

TEST_F(Idx, ThatIsNotThereIsAnErrorOfInput) { EXPECT_THROW(read_idx(path_ / "nowhere"), IoError); }

TEST(FashionMnist, IsCompleteInTheSourceFolder) {
  const fs::path folder = fs::path(LT_SOURCE_DIR) / "data/fashion-mnist";
  const IdxArray pictures = read_idx(folder / "t10k-images-idx3-ubyte.gz");
  EXPECT_THAT(pictures.sizes, ElementsAre(10000, 28, 28));
  EXPECT_EQ(*std::max_element(pictures.elements.begin(), pictures.elements.end()), 255);
  const IdxArray labels = read_idx(folder / "t10k-labels-idx1-ubyte.gz");
  EXPECT_THAT(labels.sizes, ElementsAre(10000));
  for (int kind = 0; kind < 10; ++kind) {
    EXPECT_EQ(std::count(labels.elements.begin(), labels.elements.end(), kind), 1000) << kind;
  }
}

}  // namespace
}  // namespace lowtide::zoo
