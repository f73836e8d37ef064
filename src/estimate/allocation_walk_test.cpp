// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "estimate/allocation_walk.h"

#include <numeric>

#include <gtest/gtest.h>

#include "trace/text.h"

namespace lowtide::estimate {
namespace {

// Blocks are as large as they were asked for.
AllocatorRules exact() {
  constexpr std::int64_t kEndless = std::int64_t{1} << 40;
  return {.round_bytes = 1, .small_bytes = kEndless, .small_segment_bytes = kEndless};
}

// A weight of 10, its gradient and its state of an optimizer; two activations.
constexpr const char* kStep = R"(lowtide-trace 1
name step
storage w 10 parameter start end
storage m 10 state start end
storage old 10 input start pinned
storage x 4 input start
storage a 20 activation
storage b 30 activation
storage g 10 gradient end
op forward forward : w x -> a free old
op loss forward workspace=5 : a -> b
op backward backward : a b w -> g free a b x
op update optimizer : w m g -> w m
)";

TEST(AllocationWalk, FirstStepHasNeitherStatesNorOldGradients) {
  const TrainingPeaks peaks = walk_training(trace::parse_text(kStep), exact(), {});
  // w 10, a 20, b 30, g 10; x is of the step before and counts from the second on.
  EXPECT_EQ(peaks.first.allocated_bytes, 70);
  EXPECT_EQ(peaks.first.op, OpId{2});
}

TEST(AllocationWalk, LaterStepsHoldStatesAndWhatTheStepBeforeLeft) {
  const TrainingPeaks peaks = walk_training(trace::parse_text(kStep), exact(), {});
  // w 10, m 10, x 4, a 20, b 30, g 10.
  EXPECT_EQ(peaks.steady.allocated_bytes, 84);
  EXPECT_EQ(peaks.steady.op, OpId{2});
}

TEST(AllocationWalk, ReservedBytesAreWholeSegments) {
  const TrainingPeaks peaks = walk_training(trace::parse_text(kStep), AllocatorRules(), {});
  EXPECT_EQ(peaks.steady.reserved_bytes, std::int64_t{2} << 20);
  // Six storages of 512 bytes each.
  EXPECT_EQ(peaks.steady.allocated_bytes, 6 * 512);
}

TEST(AllocationWalk, StatesThatAreThereFromTheStartCountInTheFirstStep) {
  const WalkOptions options = {.states = StatesMade::kAtStart, .early_workspace_bytes = {}};
  const TrainingPeaks peaks = walk_training(trace::parse_text(kStep), exact(), options);
  // w 10, m 10, a 20, b 30, g 10.
  EXPECT_EQ(peaks.first.allocated_bytes, 80);
}

// The gradient of the input, x, is made before the workspace that is freed again, the gradient of
// the weight after it.
constexpr const char* kConvolution = R"(lowtide-trace 1
name step
storage w 1000 parameter start end
storage g 40000000 activation
storage x 30000000 activation
storage dx 30000000 activation
storage dw 1000 gradient
op make forward : w -> g x
op convolution_backward backward workspace=70000000 : g x w -> dx dw free g x dx dw
)";

TEST(AllocationWalk, AConvolutionsTwoGradientsHaveWorkspacesOfTheirOwn) {
  const Trace trace = trace::parse_text(kConvolution);
  const AllocatorRules rules;
  const auto reserved = [&](std::int64_t early) {
    const WalkOptions options = {.states = StatesMade::kAtStart,
                                 .early_workspace_bytes = {0, early}};
    return walk_training(trace, rules, options).first.reserved_bytes;
  };
  // Segments are whole pieces of 2 MiB. The second workspace goes where the first one was, if that
  // was as large; a smaller one leaves a segment that is too small for it.
  EXPECT_EQ(reserved(70'000'000), reserved(0));
  EXPECT_EQ(reserved(35'000'000), reserved(0) + (std::int64_t{34} << 20));
  // What the trace does not say is guessed as copies of all that was read.
  EXPECT_EQ(walk_training(trace, rules, {}).first.reserved_bytes, reserved(70'001'000));
}

TEST(AllocationWalk, ALibrarysWorkspaceComesWithTheFirstProductOfItsPhase) {
  const Trace trace = trace::parse_text(R"(lowtide-trace 1
name step
storage w 10 parameter start end
storage cublas_backward 100 workspace start end pinned
storage a 1000 activation
storage g 20 gradient end
op relu forward : w -> a free a
op mm backward : w -> g
)");
  const TrainingPeaks peaks = walk_training(trace, exact(), {});
  EXPECT_EQ(peaks.first.allocated_bytes, 1010);
  // From then on it is there.
  EXPECT_EQ(peaks.steady.allocated_bytes, 1110);
}

TEST(AllocationWalk, AProductHasItsResultBeforeTheLibrarysWorkspace) {
  const Trace trace = trace::parse_text(R"(lowtide-trace 1
name step
storage w 10 parameter start end
storage cublas_forward 33554432 workspace start end pinned
storage a 35651584 activation
storage b 34603008 activation
op relu forward : w -> a free a
op mm forward : w -> b
)");
  // The result lies where a was, and the workspace in a segment of its own; the other way round the
  // result would need one of 34 MiB. The weight has one of 2 MiB.
  const TrainingPeaks peaks = walk_training(trace, AllocatorRules(), {});
  EXPECT_EQ(peaks.steady.reserved_bytes, std::int64_t{2 + 34 + 32} << 20);
}

std::int64_t bytes_of(const Trace& trace, const StepPeak& peak, StorageKind kind) {
  return bytes_by_kind_at(trace, peak)[static_cast<std::size_t>(kind)];
}

std::int64_t sum_of_kinds(const Trace& trace, const StepPeak& peak) {
  const auto bytes = bytes_by_kind_at(trace, peak);
  return std::accumulate(bytes.begin(), bytes.end(), std::int64_t{0});
}

TEST(AllocationWalk, KindsAtThePeakAddUpToIt) {
  const Trace trace = trace::parse_text(kStep);
  const StepPeak peak = walk_training(trace, exact(), {}).steady;
  EXPECT_EQ(sum_of_kinds(trace, peak), peak.allocated_bytes);
  EXPECT_EQ(bytes_of(trace, peak, StorageKind::kActivation), 50);
  EXPECT_EQ(bytes_of(trace, peak, StorageKind::kGradient), 10);
}

TEST(AllocationWalk, APeakBetweenTwoResultsHasTheFirstAndItsWorkspaceOnly) {
  const Trace trace = trace::parse_text(kConvolution);
  const WalkOptions options = {.states = StatesMade::kAtStart,
                               .early_workspace_bytes = {0, 90'000'000}};
  const StepPeak peak = walk_training(trace, exact(), options).steady;
  EXPECT_EQ(peak.op, OpId{1});
  EXPECT_EQ(peak.allocated_bytes, 1000 + 40'000'000 + 2 * 30'000'000 + 90'000'000);
  EXPECT_EQ(bytes_of(trace, peak, StorageKind::kWorkspace), 90'000'000);
  EXPECT_EQ(bytes_of(trace, peak, StorageKind::kGradient), 0);
  EXPECT_EQ(sum_of_kinds(trace, peak), peak.allocated_bytes);
}

TEST(AllocationWalk, LargestComeFirst) {
  const Trace trace = trace::parse_text(kStep);
  const std::vector<Held> largest = largest_at(trace, walk_training(trace, exact(), {}).steady, 2);
  ASSERT_EQ(largest.size(), 2U);
  EXPECT_EQ(trace.storage(largest[0].storage).name, "b");
  EXPECT_EQ(trace.storage(largest[1].storage).name, "a");
}

TEST(AllocationWalk, AWorkspaceIsAmongTheLargest) {
  const Trace trace = trace::parse_text(kConvolution);
  const WalkOptions options = {.states = StatesMade::kAtStart, .early_workspace_bytes = {0, 0}};
  const std::vector<Held> largest =
      largest_at(trace, walk_training(trace, exact(), options).steady, 2);
  ASSERT_EQ(largest.size(), 2U);
  EXPECT_FALSE(largest[0].storage.valid());
  EXPECT_EQ(largest[0].bytes, 70'000'000);
  EXPECT_EQ(trace.storage(largest[1].storage).name, "g");
}

}  // namespace
}  // namespace lowtide::estimate
