// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
//
// Training whose values go to disk: the same bits, whatever the disk does.
#include "session/spill.h"

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "lowtide/session.h"
#include "run/tier/faulty_io_test.h"
#include "run/tier/tier_test.h"
#include "run/torch/interceptor.h"
#include "run/torch/runtime.h"
#include "torch/compare.h"
#include "torch/device.h"
#include "torch/plain_run.h"
#include "torch/program.h"

namespace lowtide::torch_test {
namespace {

using testing::HasSubstr;
using tier::Fault;
using tier::FaultPlan;
using tier::TempFolder;

constexpr int kSteps = 4;

const Program& chosen() { return program("convolution_residual"); }

// Host memory takes an eighth of what the program needs, so that most of what moves goes on to the
// disk.
SessionOptions spilling(const TempFolder& folder, const Reference& plain, int share_percent,
                        Means means) {
  SessionOptions options = options_for(plain.budget(share_percent), means);
  options.host_cap = std::to_string((plain.plain_peak_bytes - plain.fixed_bytes) / 8);
  options.spill_dir = folder.path();
  options.spill_cap = "1GiB";
  return options;
}

class SpillingProgram : public testing::TestWithParam<std::string> {};

TEST_P(SpillingProgram, GivesThePlainBitsWithinAllBudgets) {
  LT_SKIP_IF(why_skip(program(GetParam())));
  const TempFolder folder;
  const Program& its = program(GetParam());
  const Reference& plain = reference(its, kSteps);
  for (const bool uses_uring : {true, false}) {
    SessionOptions options = spilling(folder, plain, 50, Means::kHost);
    options.spill_uring = uses_uring;
    const auto found = run_feasibly(its, options, plain.budget(50), plain);
    ASSERT_TRUE(found);
    const SessionStats& stats = found->run.stats;
    EXPECT_EQ(found->run.difference, std::nullopt);
    EXPECT_LE(stats.peak_bytes, found->budget_bytes);
    EXPECT_LE(stats.host_bytes, std::stoll(options.host_cap));
    EXPECT_GT(stats.bytes_to_disk, 0);
    EXPECT_GT(stats.bytes_from_disk, 0);
    EXPECT_GT(stats.spill_peak_bytes, 0);
    EXPECT_EQ(stats.disk_read_errors + stats.disk_write_errors, 0);
    if (!uses_uring) {
      EXPECT_EQ(stats.disk_io, "threads");
    }
    EXPECT_TRUE(folder.is_empty());
  }
}

INSTANTIATE_TEST_SUITE_P(Some, SpillingProgram,
                         testing::Values("convolution_residual", "convolution_unet",
                                         "attention_fused_dropout"),
                         [](const auto& row) { return row.param; });

TEST(Spilling, AHundredBytesGoToDiskToo) {
  LT_SKIP_IF(why_skip());
  const TempFolder folder;
  SessionOptions options = options_for(0, Means::kHost);
  options.evict_everything = true;
  options.floor_bytes = 0;
  // Room for sixteen.
  options.host_cap = "64KiB";
  options.spill_dir = folder.path();
  Session session(options);
  std::vector<at::Tensor> tensors;
  for (int i = 0; i < 200; ++i) tensors.push_back(at::full({25}, i, test_device()) + 1);
  EXPECT_GT(session.stats().spill_bytes, 100 * 4096);
  for (int i = 0; i < 200; ++i) {
    const at::Tensor& tensor = tensors[static_cast<std::size_t>(i)];
    session.hold(tensor);
    EXPECT_TRUE(at::equal(tensor.cpu(), at::full({25}, i + 1))) << i;
    session.release(tensor);
  }
  EXPECT_GT(session.stats().bytes_from_disk, 100 * 4096);
}

TEST(Spilling, ASessionInsideAnotherMayHaveNoFile) {
  LT_SKIP_IF(why_skip());
  const TempFolder folder;
  const Reference& plain = reference(chosen(), kSteps);
  Session outer(spilling(folder, plain, 60, Means::kHost));
  const auto training = chosen().make(test_device(), kSeed);
  const auto take = [&](Session& session, int i) {
    session.step([&] { training->step(i); });
    EXPECT_EQ(first_difference(plain.run.states[static_cast<std::size_t>(i)],
                               take_state(*training, test_device(), through(session))),
              std::nullopt)
        << "step " << i;
  };
  take(outer, 0);
  take(outer, 1);
  EXPECT_GT(outer.stats().bytes_to_disk, 0);
  {
    Session inner(options_for(plain.budget(80)));
    take(inner, 2);
    EXPECT_EQ(inner.stats().disk_io, "");
  }
  take(outer, 3);
}

// --- Faults. ---

// What a session writes and reads when it tries the disk out.
constexpr std::int64_t kTrialRequests = 4;

enum class End { kRight, kOutOfMemory, kIoError };

End run_to_the_end(const SessionOptions& options, const PlainRun& wanted, SessionStats& stats) {
  try {
    const ManagedRun run = run_managed(chosen(), options, wanted);
    EXPECT_FALSE(run.difference) << *run.difference;
    stats = run.stats;
    return End::kRight;
  } catch (const OutOfMemory&) {
    return End::kOutOfMemory;
  } catch (const IoError&) {
    return End::kIoError;
  }
}

// When the value is read, it cannot be moved elsewhere any more.
bool is_found_out_late(Fault fault) {
  return fault == Fault::kFlippedWrite || fault == Fault::kLostWrite ||
         fault == Fault::kMisdirectedWrite;
}

class SpillingOnto : public testing::TestWithParam<Fault> {};

TEST_P(SpillingOnto, AFaultyDiskIsRightOrATypedError) {
  LT_SKIP_IF(why_skip());
  const TempFolder folder;
  const Reference& plain = reference(chosen(), kSteps);
  std::int64_t hits = 0;
  std::map<End, int> ends;
  for (const Means means : {Means::kHost, Means::kMixed}) {
    // Recomputation is dear, so that much is moved all the same.
    const SessionOptions options = spilling(folder, plain, 60, means);
    for (const bool for_good : {false, true}) {
      for (const std::int64_t number : {0, 1, 2, 5, 11, 23, 47}) {
        SCOPED_TRACE(name_of(means) + (for_good ? " for good from " : " at ") +
                     std::to_string(number));
        const std::int64_t trial = (GetParam() == Fault::kLate ? 2 : 1) * kTrialRequests;
        FaultPlan plan = {.fault = GetParam(), .number = trial + number, .for_good = for_good};
        session::wrap_spill_io(
            [&plan](auto io) { return std::make_unique<tier::FaultyIo>(std::move(io), plan); });
        SessionStats stats;
        const End end = run_to_the_end(options, plain.run, stats);
        ++ends[end];
        hits += plan.hits;
        const bool is_harmless = GetParam() == Fault::kLate || !for_good;
        if (is_harmless && !is_found_out_late(GetParam())) {
          EXPECT_EQ(end, End::kRight);
        }
        session::wrap_spill_io(nullptr);
      }
    }
    // Nothing is left behind.
    SessionStats stats;
    EXPECT_EQ(run_to_the_end(options, plain.run, stats), End::kRight);
  }
  EXPECT_GT(hits, 0);
  std::cout << ends[End::kRight] << " right, " << ends[End::kOutOfMemory] << " out of memory, "
            << ends[End::kIoError] << " I/O errors; " << hits << " faults\n";
}

// The same in steps that follow a plan which moves everything, most of it to the disk.
TEST_P(SpillingOnto, AFaultyDiskIsNoHarmToPlansEither) {
  LT_SKIP_IF(why_skip());
  constexpr int kGuidedSteps = 6;
  const TempFolder folder;
  const Reference& plain = reference(chosen(), kGuidedSteps);
  SessionOptions options = spilling(folder, plain, 80, Means::kHost);
  options.policy = "evict_all";
  options.wait_for_plans = true;
  const auto run_with = [&](FaultPlan& plan, SessionStats& stats) {
    session::wrap_spill_io(
        [&plan](auto io) { return std::make_unique<tier::FaultyIo>(std::move(io), plan); });
    const End end = run_to_the_end(options, plain.run, stats);
    session::wrap_spill_io(nullptr);
    return end;
  };
  SessionStats stats;
  FaultPlan never = {.fault = GetParam(), .number = std::int64_t{1} << 40};
  ASSERT_EQ(run_with(never, stats), End::kRight);
  EXPECT_GT(stats.guided_steps, stats.guidance_broken_off);
  EXPECT_GT(stats.bytes_from_disk, 0);
  // Plans are followed in the last four of the six steps.
  std::int64_t hits = 0;
  for (const int eighth : {4, 5, 6, 7}) {
    FaultPlan plan = {
        .fault = GetParam(), .number = never.seen * eighth / 8, .for_good = eighth == 5};
    const End end = run_with(plan, stats);
    hits += plan.hits;
    const bool is_harmless = GetParam() == Fault::kLate || !plan.for_good;
    if (is_harmless && !is_found_out_late(GetParam())) {
      EXPECT_EQ(end, End::kRight) << eighth;
    }
  }
  EXPECT_GT(hits, 0);
}

INSTANTIATE_TEST_SUITE_P(All, SpillingOnto, testing::ValuesIn(tier::all_faults()),
                         [](const auto& row) {
                           std::string name = tier::name_of(row.param);
                           std::replace(name.begin(), name.end(), ' ', '_');
                           return name;
                         });

// What cannot be read is computed again where that is possible.
TEST(SpillingOntoADisk, ThatCannotBeReadIsHelpedByRecomputation) {
  LT_SKIP_IF(why_skip());
  LT_SKIP_IF(test_device().is_cpu() ? "" : "a GPU computes the products sooner than it moves them");
  const TempFolder folder;
  FaultPlan plan = {.fault = Fault::kReadError, .number = kTrialRequests, .for_good = true};
  session::wrap_spill_io(
      [&plan](auto io) { return std::make_unique<tier::FaultyIo>(std::move(io), plan); });
  const at::Tensor side = at::rand({1024, 1024}, test_device());
  const at::Tensor expected = at::mm(side, side);
  SessionOptions options = options_for(0, Means::kMixed);
  options.evict_everything = true;
  // Room for two products, which take longer to compute than to move.
  options.host_cap = "8MiB";
  options.spill_dir = folder.path();
  {
    Session session(options);
    // Not hold(): what is computed from what may be written by hand is not computed again.
    run::active_runtime()->keep_address(side);
    session.hold(expected);
    std::vector<at::Tensor> products;
    for (int i = 0; i < 8; ++i) products.push_back(at::mm(side, side));
    EXPECT_GT(session.stats().bytes_to_disk, 0);
    for (const at::Tensor& product : products) {
      session.hold(product);
      EXPECT_TRUE(at::equal(product, expected));
      session.release(product);
    }
    EXPECT_GT(plan.hits, 0);
    EXPECT_GT(session.stats().disk_values_recomputed, 0);
  }
  session::wrap_spill_io(nullptr);
}

// Under fiu-run, which makes one system call in twenty fail, LT_EXPECT_FAULTS is set.
TEST(SpillingRealFaults, AreRightOrATypedError) {
  LT_SKIP_IF(why_skip());
  const TempFolder folder;
  const Reference& plain = reference(chosen(), kSteps);
  SessionOptions options = spilling(folder, plain, 60, Means::kMixed);
  options.spill_uring = false;
  std::int64_t faults = 0;
  int right = 0;
  for (int round = 0; round < 10; ++round) {
    SessionStats stats;
    // The disk may fail when it is tried out.
    const End end = run_to_the_end(options, plain.run, stats);
    right += end == End::kRight ? 1 : 0;
    faults += end == End::kRight ? stats.disk_read_errors + stats.disk_write_errors : 1;
  }
  std::cout << right << " of 10 right; " << faults << " faults\n";
  const bool are_expected = std::getenv("LT_EXPECT_FAULTS") != nullptr;
  EXPECT_EQ(faults > 0, are_expected);
  EXPECT_TRUE(are_expected || right == 10);
}

// --- Options. ---

std::string refusal_of(const SessionOptions& options) {
  try {
    const Session session(options);
  } catch (const InvalidInput& error) {
    return error.what();
  }
  return "none";
}

TEST(SpillFolderOption, SaysWhatIsWrong) {
  LT_SKIP_IF(why_skip());
  const TempFolder folder;
  SessionOptions options = options_for(1 << 30);
  options.spill_dir = folder.path() + "/missing";
  EXPECT_THAT(refusal_of(options), HasSubstr("does not exist"));
  const std::string text = folder.path() + "/text";
  std::ofstream(text) << "x";
  options.spill_dir = text;
  EXPECT_THAT(refusal_of(options), HasSubstr("is no folder"));
  options.spill_dir = folder.path();
  options.spill_cap = "much";
  EXPECT_NE(refusal_of(options), "none");
  options.spill_cap = "1GiB";
  options.means = Means::kRecompute;
  EXPECT_THAT(refusal_of(options), HasSubstr("Means::kMixed"));
  options.means = Means::kMixed;
  options.spill_dir = "";
  EXPECT_THAT(refusal_of(options), HasSubstr("spill_dir"));
  options.spill_dir = "/proc";
  EXPECT_NE(refusal_of(options), "none") << "nobody can make files there";
  // Nothing is left behind.
  Session session(options_for(1 << 30));
  session.step([] {});
}

TEST(SpillFolderOption, WarnsOfOneThatEveryoneCanWrite) {
  LT_SKIP_IF(why_skip());
  const TempFolder folder;
  SessionOptions options = options_for(1 << 30);
  options.spill_dir = folder.path();
  const auto warning_of = [&] {
    testing::internal::CaptureStderr();
    { const Session session(options); }
    return testing::internal::GetCapturedStderr();
  };
  EXPECT_EQ(warning_of(), "");
  std::filesystem::permissions(folder.path(), std::filesystem::perms(0777));
  EXPECT_THAT(warning_of(), HasSubstr("everyone"));
}

TEST(SpillFolderOption, ADiskThatDoesNotWorkIsSaidAtOnce) {
  LT_SKIP_IF(why_skip());
  const TempFolder folder;
  SessionOptions options = options_for(1 << 30);
  options.spill_dir = folder.path();
  FaultPlan plan = {.fault = Fault::kNoSpace, .for_good = true};
  session::wrap_spill_io(
      [&plan](auto io) { return std::make_unique<tier::FaultyIo>(std::move(io), plan); });
  EXPECT_THROW(Session{options}, IoError);
  session::wrap_spill_io(nullptr);
}

TEST(SpillFolderOption, WhatWentWrongWhenTheDiskWasTriedOutDoesNotCount) {
  LT_SKIP_IF(why_skip());
  const TempFolder folder;
  SessionOptions options = options_for(1 << 30);
  options.spill_dir = folder.path();
  FaultPlan plan = {.fault = Fault::kFlippedRead};
  session::wrap_spill_io(
      [&plan](auto io) { return std::make_unique<tier::FaultyIo>(std::move(io), plan); });
  const Session session(options);
  session::wrap_spill_io(nullptr);
  EXPECT_EQ(plan.hits, 1);
  EXPECT_EQ(session.stats().disk_read_errors, 0);
}

}  // namespace
}  // namespace lowtide::torch_test
