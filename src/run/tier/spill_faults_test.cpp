// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
//
// Every fault at every k-th request, once and for good: what is read is right, or said to be not.
#include <cstdlib>
#include <iostream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "run/tier/faulty_io_test.h"
#include "run/tier/spill_file.h"
#include "run/tier/tier_test.h"

namespace lowtide::tier {
namespace {

constexpr std::int64_t kPiece = 16 << 10;

struct Outcome {
  int right = 0;
  int refused = 0;
  int wrong = 0;
};

void store_and_load(SpillFile& file, const std::vector<Buffer>& values, Outcome& outcome) {
  std::vector<SpilledP> spilled;
  for (const Buffer& value : values) spilled.push_back(file.store(value.data(), value.bytes()));
  for (std::size_t i = 0; i < values.size(); ++i) {
    Buffer read(values[i].bytes());
    spilled[i]->wait();
    if (spilled[i]->failure().empty()) {
      file.load(spilled[i], read.data());
      spilled[i]->wait();
    }
    if (!spilled[i]->failure().empty()) {
      ++outcome.refused;
    } else {
      ++(read.has_bytes_of(values[i]) ? outcome.right : outcome.wrong);
    }
  }
}

// Two rounds in the same blocks, so that those of the first are there for the second to find.
Outcome use(SpillFile& file) {
  Outcome outcome;
  for (const std::uint64_t round : {1U, 2U}) {
    std::vector<Buffer> values;
    for (const std::int64_t bytes : {std::int64_t{100}, 3 * kPiece, kPiece + 1, kPiece}) {
      values.emplace_back(bytes, round * 1000 + static_cast<std::uint64_t>(bytes));
    }
    store_and_load(file, values, outcome);
  }
  return outcome;
}

// 7 pieces a round.
constexpr std::int64_t kRequests = 14;

bool is_always_survived(Fault fault, bool for_good) {
  switch (fault) {
    case Fault::kShortRead:
    case Fault::kShortWrite:
      // A disk that never gives more than nothing of a block does not work.
      return !for_good;
    case Fault::kLate:
      return true;
    case Fault::kReadError:
    case Fault::kFlippedRead:
    case Fault::kSwappedRead:
      return !for_good;
    default:
      return false;
  }
}

class SpillFaults : public testing::TestWithParam<bool> {
 protected:
  // Whether the fault came to pass.
  bool is_found_out(Fault fault, bool for_good, std::int64_t number) const {
    FaultPlan plan = {.fault = fault, .number = number, .for_good = for_good};
    SpillFile file(
        {.folder = folder_.path(),
         .cap_bytes = 1 << 20,
         .may_use_uring = GetParam(),
         .piece_bytes = kPiece,
         .wrap_io = [&plan](auto io) { return std::make_unique<FaultyIo>(std::move(io), plan); }});
    const Outcome outcome = use(file);
    EXPECT_EQ(outcome.wrong, 0);
    EXPECT_EQ(outcome.right + outcome.refused, 8);
    if (plan.hits == 0) return false;
    EXPECT_EQ(outcome.refused == 0, is_always_survived(fault, for_good));
    if (!for_good) {
      // What goes to the place of another spoils that too.
      EXPECT_LE(outcome.refused, fault == Fault::kMisdirectedWrite ? 2 : 1);
    }
    // Whatever it was, it is over.
    plan.fault = Fault::kNone;
    EXPECT_EQ(use(file).right, 8);
    return true;
  }

 private:
  TempFolder folder_;
};

TEST_P(SpillFaults, AtEveryRequestAreFoundOut) {
  for (const Fault fault : all_faults()) {
    for (const bool for_good : {false, true}) {
      for (std::int64_t number = 0; number < kRequests; ++number) {
        SCOPED_TRACE(name_of(fault) + (for_good ? " for good from " : " at ") +
                     std::to_string(number));
        // A read is swapped with another that is under way, which on a busy machine there may not
        // be.
        int tries = fault == Fault::kSwappedRead ? 50 : 1;
        while (!is_found_out(fault, for_good, number)) ASSERT_GT(--tries, 0);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, SpillFaults, testing::Bool(), [](const auto& row) {
  return std::string(row.param ? "uring" : "threads");
});

// Under fiu-run, which makes one system call in twenty fail, LT_EXPECT_FAULTS is set.
TEST(SpillRealFaults, NeverGiveWrongBytes) {
  const TempFolder folder;
  SpillFile file({.folder = folder.path(),
                  .cap_bytes = 1 << 20,
                  .may_use_uring = false,
                  .piece_bytes = kPiece});
  Outcome outcome;
  for (int round = 0; round < 50; ++round) {
    const Outcome one = use(file);
    outcome.right += one.right;
    outcome.refused += one.refused;
    outcome.wrong += one.wrong;
  }
  std::cout << outcome.right << " right, " << outcome.refused << " refused\n";
  EXPECT_EQ(outcome.wrong, 0);
  EXPECT_GT(outcome.right, 0);
  const bool are_expected = std::getenv("LT_EXPECT_FAULTS") != nullptr;
  EXPECT_EQ(outcome.refused > 0, are_expected);
  EXPECT_EQ(file.stats().pieces_read_again > 0, are_expected);
}

}  // namespace
}  // namespace lowtide::tier
