// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "run/tier/spill_file.h"

#include <thread>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lowtide/errors.h"
#include "run/tier/faulty_io_test.h"
#include "run/tier/tier_test.h"

namespace lowtide::tier {
namespace {

constexpr std::int64_t kPiece = 16 << 10;

// By the name of the engine that is asked for.
class SpillFileBy : public testing::TestWithParam<std::string> {
 protected:
  SpillOptions options(std::int64_t cap_bytes) const {
    return {.folder = folder.path(),
            .cap_bytes = cap_bytes,
            .may_use_uring = GetParam() == "io_uring",
            .piece_bytes = kPiece};
  }
  bool is_missing(const SpillFile& file) const { return file.io_name() != GetParam(); }

  TempFolder folder;
};

TEST_P(SpillFileBy, GivesBackWhatItWasGiven) {
  SpillFile file(options(1 << 20));
  if (is_missing(file)) GTEST_SKIP() << "no " << GetParam() << " here";
  for (const std::int64_t bytes :
       {std::int64_t{0}, std::int64_t{1}, std::int64_t{100}, std::int64_t{4096}, std::int64_t{4097},
        kPiece - 1, kPiece, kPiece + 1, 9 * kPiece + 123}) {
    const Buffer written(bytes, static_cast<std::uint64_t>(bytes));
    Buffer read(bytes);
    const SpilledP spilled = file.store(written.data(), bytes);
    ASSERT_TRUE(spilled);
    spilled->wait();
    EXPECT_EQ(spilled->failure(), "");
    for (int round = 0; round < 2; ++round) {
      file.load(spilled, read.data());
      spilled->wait();
      EXPECT_EQ(spilled->failure(), "");
      EXPECT_TRUE(read.has_bytes_of(written)) << bytes;
    }
  }
  EXPECT_EQ(file.stats().held_bytes, 0);
  EXPECT_GT(file.stats().peak_bytes, 9 * kPiece);
  EXPECT_EQ(file.stats().read_bytes, 2 * file.stats().written_bytes);
  EXPECT_GT(file.write_bytes_per_second(), 0);
  EXPECT_GT(file.read_bytes_per_second(), 0);
  EXPECT_TRUE(folder.is_empty());
}

TEST_P(SpillFileBy, ManyAreUnderWayAtOnce) {
  SpillFile file(options(64 << 20));
  std::vector<Buffer> written;
  std::vector<Buffer> read;
  std::vector<SpilledP> spilled;
  for (std::uint64_t i = 0; i < 100; ++i) {
    written.emplace_back(100 + 1777 * static_cast<std::int64_t>(i), i);
    read.emplace_back(written.back().bytes());
    spilled.push_back(file.store(written.back().data(), written.back().bytes()));
  }
  for (std::size_t i = 100; i-- > 0;) {
    spilled[i]->wait();
    file.load(spilled[i], read[i].data());
  }
  for (std::size_t i = 0; i < 100; ++i) {
    spilled[i]->wait();
    EXPECT_EQ(spilled[i]->failure(), "");
    EXPECT_TRUE(read[i].has_bytes_of(written[i])) << i;
  }
}

TEST_P(SpillFileBy, ThreadsMayShareIt) {
  SpillFile file(options(64 << 20));
  std::vector<std::thread> threads;
  for (std::uint64_t t = 0; t < 4; ++t) {
    threads.emplace_back([&file, t] {
      for (std::uint64_t i = 0; i < 50; ++i) {
        const Buffer written(3 * kPiece / 2, 1000 * t + i);
        Buffer read(written.bytes());
        const SpilledP spilled = file.store(written.data(), written.bytes());
        spilled->wait();
        file.load(spilled, read.data());
        spilled->wait();
        EXPECT_TRUE(read.has_bytes_of(written));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(file.stats().held_bytes, 0);
}

TEST_P(SpillFileBy, KeepsItsCap) {
  SpillFile file(options(4 * kPiece));
  const Buffer buffer(3 * kPiece, 1);
  const SpilledP first = file.store(buffer.data(), buffer.bytes());
  ASSERT_TRUE(first);
  EXPECT_FALSE(file.store(buffer.data(), 2 * kPiece));
  SpilledP second = file.store(buffer.data(), kPiece);
  EXPECT_TRUE(second);
  first->wait();
  second->wait();
  second.reset();
  EXPECT_EQ(file.stats().held_bytes, 3 * kPiece);
  EXPECT_TRUE(file.store(buffer.data(), kPiece));
}

TEST_P(SpillFileBy, AValueMayLieInSeveralPlaces) {
  SpillFile file(options(5 * 4096));
  const Buffer small(4096, 1);
  SpilledP a = file.store(small.data(), 4096);
  const SpilledP b = file.store(small.data(), 4096);
  SpilledP c = file.store(small.data(), 4096);
  const SpilledP d = file.store(small.data(), 4096);
  for (const SpilledP& each : {a, b, c, d}) each->wait();
  a.reset();
  c.reset();
  const Buffer written(3 * 4096, 2);
  Buffer read(3 * 4096);
  const SpilledP scattered = file.store(written.data(), written.bytes());
  ASSERT_TRUE(scattered);
  scattered->wait();
  file.load(scattered, read.data());
  scattered->wait();
  EXPECT_EQ(scattered->failure(), "");
  EXPECT_TRUE(read.has_bytes_of(written));
}

TEST_P(SpillFileBy, WhatIsCancelledEndsSoon) {
  SpillFile file(options(64 << 20));
  const Buffer buffer(32 << 20, 1);
  const SpilledP spilled = file.store(buffer.data(), buffer.bytes());
  spilled->cancel();
  spilled->wait();
  EXPECT_FALSE(spilled->is_busy());
  EXPECT_THAT(spilled->failure(), testing::HasSubstr("cancelled"));
  EXPECT_EQ(file.stats().failed_writes, 0);
  EXPECT_LT(file.stats().written_bytes, buffer.bytes());
}

TEST_P(SpillFileBy, IsTriedOut) {
  SpillFile file(options(64 << 20));
  file.try_out();
  EXPECT_EQ(file.stats().held_bytes, 0);
  EXPECT_GT(file.read_bytes_per_second(), 0);
  FaultPlan plan = {.fault = Fault::kFlippedWrite, .for_good = true};
  SpillOptions faulty = options(64 << 20);
  faulty.wrap_io = [&plan](auto io) { return std::make_unique<FaultyIo>(std::move(io), plan); };
  EXPECT_THROW(SpillFile(faulty).try_out(), IoError);
  EXPECT_THROW(SpillFile(options(0)).try_out(), IoError);
}

INSTANTIATE_TEST_SUITE_P(All, SpillFileBy, testing::Values("threads", "io_uring"),
                         [](const auto& row) { return row.param; });

}  // namespace
}  // namespace lowtide::tier
