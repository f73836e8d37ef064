// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
//
// Programs drawn at random, in sessions drawn at random: always the plain run's bits, and never
// more than the budget.
#include "base/random.h"

#include <algorithm>
#include <cstdlib>
#include <string>

#include <gtest/gtest.h>

#include "run/tier/tier_test.h"
#include "torch/compare.h"
#include "torch/device.h"
#include "torch/meter.h"
#include "torch/random_program.h"

namespace lowtide::torch_test {
namespace {

constexpr int kSteps = 9;
constexpr std::uint64_t kSeeds = 16;
constexpr int kSessionsOfEach = 3;

template <class T, std::size_t N>
const T& one_of(base::Random& choose, const T (&all)[N]) {
  return all[choose.below(N)];
}

void choose_policy(base::Random& choose, SessionOptions& options) {
  constexpr const char* kAnyMeans[] = {"online", "online", "evict_all", "capuchin", "tide"};
  constexpr const char* kReplays[] = {"sublinear", "dtr"};
  options.wait_for_plans = true;
  options.policy = one_of(choose, kAnyMeans);
  const bool is_else = choose.below(3) == 0;
  if (is_else && options.means == Means::kHost) options.policy = "belady";
  if (is_else && options.means != Means::kHost) options.policy = one_of(choose, kReplays);
  if (options.policy == "tide") options.policy_options = {{"tries", "20"}};
}

// What it asks for must not depend on times, so that a seed says all.
struct Chosen {
  SessionOptions options;
  // 0: everything is evicted.
  std::int64_t budget_bytes = 0;
  Pause pause{};
};

Chosen choose_session(base::Random& choose, const Reference& wanted, const std::string& folder) {
  constexpr Means kMeans[] = {Means::kRecompute, Means::kHost, Means::kMixed};
  constexpr int kShares[] = {90, 75, 60, 50, 40, 30};
  // Larger than the state of a generator, which torch reads around the dispatcher.
  constexpr std::int64_t kFloors[] = {8 << 10, 32 << 10, 64 << 10};
  Chosen chosen{.options = options_for(0, one_of(choose, kMeans))};
  SessionOptions& options = chosen.options;
  options.floor_bytes = one_of(choose, kFloors);
  options.step_aside = choose.below(2) == 0;
  const std::int64_t budget = wanted.budget(one_of(choose, kShares));
  options.evict_everything = choose.below(4) == 0;
  if (!options.evict_everything) {
    chosen.budget_bytes = budget;
    choose_policy(choose, options);
  }
  if (options.means != Means::kRecompute && choose.below(3) == 0) {
    options.host_cap = std::to_string(std::max<std::int64_t>(wanted.plain_peak_bytes / 6, 1 << 20));
    options.spill_dir = folder;
    options.spill_cap = "1GiB";
  }
  if (choose.below(3) == 0) {
    chosen.pause.from = 1 + static_cast<int>(choose.below(kSteps - 2));
    chosen.pause.to = chosen.pause.from + 1 + static_cast<int>(choose.below(2));
  }
  return chosen;
}

std::string describe(const Chosen& chosen) {
  const SessionOptions& options = chosen.options;
  return name_of(options.means) + ", " +
         (options.evict_everything ? "everything" : options.policy) + ", budget " +
         std::to_string(chosen.budget_bytes) + ", floor " + std::to_string(options.floor_bytes) +
         (options.spill_dir.empty() ? "" : ", disk behind " + options.host_cap) +
         (options.step_aside ? ", aside" : "") +
         (chosen.pause.to == 0 ? ""
                               : ", pause from step " + std::to_string(chosen.pause.from) + " to " +
                                     std::to_string(chosen.pause.to));
}

struct Tally {
  int runs = 0;
  int passed_over = 0;
  std::int64_t evictions = 0;
  std::int64_t recomputes = 0;
  std::int64_t guided_steps = 0;
};

// Some graphs keep themselves alive in plain torch too; then what is held says nothing.
bool leaks(const Program& program) {
  install_meter();
  const std::int64_t before = metered_bytes();
  static_cast<void>(run_plainly(program, 2));
  return metered_bytes() != before;
}

SessionStats run_in(const Chosen& chosen, const Program& program, const Reference& wanted) {
  ManagedRun run;
  if (chosen.budget_bytes == 0) {
    run = run_managed(program, chosen.options, wanted.run, chosen.pause);
  } else {
    const auto found =
        run_feasibly(program, chosen.options, chosen.budget_bytes, wanted, chosen.pause);
    if (!found) throw OutOfMemory("no budget that a refusal named was enough", 0, 0);
    run = found->run;
    // Without a session there is no budget, and the next one begins with what is there.
    if (chosen.pause.to == 0) {
      EXPECT_LE(run.stats.peak_bytes, found->budget_bytes);
      EXPECT_LE(run.metered_peak_bytes, found->budget_bytes);
    }
  }
  EXPECT_EQ(run.difference, std::nullopt);
  return run.stats;
}

void try_seed(std::uint64_t seed, Tally& tally) {
  static const tier::TempFolder folder;
  const Program program = random_program(seed);
  if (leaks(program)) {
    ++tally.passed_over;
    return;
  }
  const Reference& wanted = reference(program, kSteps);
  base::Random choose(seed + 1'000'003);
  for (int i = 0; i < kSessionsOfEach; ++i) {
    const Chosen chosen = choose_session(choose, wanted, folder.path());
    SCOPED_TRACE("LT_SEED=" + std::to_string(seed) + ", session " + std::to_string(i) + ": " +
                 describe(chosen));
    ++tally.runs;
    SessionStats stats;
    ASSERT_NO_THROW(stats = run_in(chosen, program, wanted));
    tally.evictions += stats.evictions;
    tally.recomputes += stats.recomputes;
    tally.guided_steps += stats.guided_steps - stats.guidance_broken_off;
  }
}

std::uint64_t number_in(const char* variable, std::uint64_t otherwise) {
  const char* text = std::getenv(variable);
  return text == nullptr ? otherwise : std::strtoull(text, nullptr, 10);
}

// One seed alone: LT_SEED=17. More of them, from there on: LT_SEEDS=1000 as well.
TEST(RandomPrograms, GiveThePlainBitsInRandomSessions) {
  LT_SKIP_IF(why_skip(random_program(1)));
  const bool is_chosen = std::getenv("LT_SEED") != nullptr;
  const std::uint64_t first = number_in("LT_SEED", 1);
  const std::uint64_t count = number_in("LT_SEEDS", is_chosen ? 1 : kSeeds);
  Tally tally;
  for (std::uint64_t seed = first; seed < first + count; ++seed) try_seed(seed, tally);
  std::printf("%d runs, %lld evictions, %lld replays, %lld guided steps; %d programs passed over\n",
              tally.runs, static_cast<long long>(tally.evictions),
              static_cast<long long>(tally.recomputes), static_cast<long long>(tally.guided_steps),
              tally.passed_over);
  if (is_chosen) return;
  EXPECT_GE(tally.runs, 36);
  EXPECT_GT(tally.evictions, 1000);
  EXPECT_GT(tally.recomputes, 1000);
  EXPECT_GT(tally.guided_steps, 10);
}

}  // namespace
}  // namespace lowtide::torch_test
