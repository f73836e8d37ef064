// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "torch/compare.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "torch/device.h"
#include "torch/meter.h"

namespace lowtide::torch_test {
namespace {

constexpr int kMostRefusals = 5;

void expect_means_were_used(const SessionStats& stats, Means means) {
  if (means == Means::kRecompute) {
    EXPECT_EQ(stats.moves, 0);
    EXPECT_EQ(stats.bytes_to_host, 0);
  }
  if (means == Means::kHost) {
    EXPECT_EQ(stats.drops, 0);
    EXPECT_EQ(stats.recomputes, 0);
  }
}

Reference make_reference(const Program& program, int steps) {
  install_meter();
  // Other programs would make the libraries take it later, out of this one's budget.
  static_cast<void>(fixed_bytes());
  Reference result{program.name, run_plainly(program, steps), 0, 0};
  const ManagedRun watched = run_managed(program, options_for(0), result.run);
  EXPECT_EQ(watched.difference, std::nullopt) << program.name << " under a session without budget";
  EXPECT_EQ(watched.stats.evictions, 0) << program.name << " under a session without budget";
  result.plain_peak_bytes = watched.stats.peak_bytes;
  if (!test_device().is_cpu()) result.fixed_bytes = watched.held_after_bytes;
  return result;
}

}  // namespace

bool Reference::must_evict(std::int64_t budget_bytes) const {
  return budget_bytes < (test_device().is_cpu() ? plain_peak_bytes : budget(90));
}

const Reference& reference(const Program& program, int steps) {
  static Reference last;
  if (last.name != program.name || last.run.states.size() != static_cast<std::size_t>(steps)) {
    last = make_reference(program, steps);
  }
  return last;
}

ManagedRun run_managed(const Program& program, const SessionOptions& options,
                       const PlainRun& wanted, Pause pause) {
  const at::Device device = test_device();
  const std::int64_t metered_before = metered_bytes();
  reset_metered_peak();
  std::optional<Session> session(options);
  std::unique_ptr<Training> training = program.make(device, kSeed);
  ManagedRun result;
  for (int i = 0; i < static_cast<int>(wanted.states.size()) && !result.difference; ++i) {
    if (i == pause.to && i > pause.from) session.emplace(options);
    if (i == pause.from && i < pause.to) session.reset();
    const auto step = [&] { take_step(*training, i); };
    session ? session->step(step) : step();
    const State state = take_state(*training, device, session ? through(*session) : Access());
    if (const auto found = first_difference(wanted.states[static_cast<std::size_t>(i)], state)) {
      result.difference = "step " + std::to_string(i) + ": " + *found;
    }
  }
  if (!session) session.emplace(options);
  result.stats = session->stats();
  result.metered_peak_bytes = metered_peak_bytes() - metered_before;
  training.reset();
  result.held_after_bytes = session->stats().held_bytes;
  return result;
}

std::int64_t smallest_budget(const OutOfMemory& refusal) { return refusal.smallest_budget_bytes(); }

std::optional<Feasible> run_feasibly(const Program& program, SessionOptions options,
                                     std::int64_t budget_bytes, const Reference& wanted,
                                     Pause pause) {
  for (int refusals = 0; refusals <= kMostRefusals; ++refusals) {
    options.budget = std::to_string(budget_bytes);
    try {
      ManagedRun run = run_managed(program, options, wanted.run, pause);
      return Feasible{std::move(run), budget_bytes, refusals};
    } catch (const OutOfMemory& refusal) {
      const std::int64_t smallest = smallest_budget(refusal);
      std::printf("%s, %s: %lld bytes are refused, %lld named: %s\n", program.name.c_str(),
                  name_of(options.means).c_str(), static_cast<long long>(budget_bytes),
                  static_cast<long long>(smallest), refusal.what());
      EXPECT_GT(smallest, budget_bytes) << "a refusal names a larger budget";
      // It names what the op at hand needs; a later one may need more.
      budget_bytes = std::max(smallest, budget_bytes + (budget_bytes - wanted.fixed_bytes) / 3);
    }
  }
  return std::nullopt;
}

void expect_identical(const Program& program, int steps, int share_percent,
                      SessionOptions options) {
  const Reference& wanted = reference(program, steps);
  const std::int64_t budget = wanted.budget(share_percent);
  const std::optional<Feasible> done = run_feasibly(program, options, budget, wanted);
  ASSERT_TRUE(done.has_value()) << "no budget that a refusal named was enough";
  const SessionStats& stats = done->run.stats;
  EXPECT_EQ(done->run.difference, std::nullopt);
  EXPECT_EQ(stats.budget_bytes, done->budget_bytes);
  EXPECT_LE(stats.peak_bytes, stats.budget_bytes);
  EXPECT_EQ(stats.steps, steps);
  expect_means_were_used(stats, options.means);
  if (test_device().is_cpu()) {
    EXPECT_LE(done->run.metered_peak_bytes, stats.budget_bytes) << "by the meter's books";
  }
  if (wanted.must_evict(stats.budget_bytes)) {
    EXPECT_GT(stats.evictions, 0);
  }
  if (done->refusals > 0) {
    std::printf("%s, %s: works in %lld bytes, %.0f %% of the plain peak, instead of %d %%\n",
                program.name.c_str(), name_of(options.means).c_str(),
                static_cast<long long>(done->budget_bytes),
                100.0 * static_cast<double>(done->budget_bytes) /
                    static_cast<double>(wanted.plain_peak_bytes),
                share_percent);
  }
}

std::int64_t fixed_bytes() {
  if (test_device().is_cpu()) return 0;
  {
    const at::Tensor matrix = at::ones({64, 64}, test_device());
    EXPECT_EQ(matrix.mm(matrix).sum().item<float>(), 64.0F * 64.0F * 64.0F);
  }
  Session session(options_for(0));
  return session.stats().held_bytes;
}

Access through(Session& session) {
  return {[&session](const at::Tensor& tensor) { session.hold(tensor); },
          [&session](const at::Tensor& tensor) { session.release(tensor); }};
}

SessionOptions options_for(std::int64_t budget_bytes, Means means) {
  SessionOptions options;
  if (budget_bytes > 0) options.budget = std::to_string(budget_bytes);
  options.device = test_device().str();
  // The programs are far smaller than the pieces that torch's allocator takes from a GPU.
  options.cap_reserved = false;
  options.means = means;
  // Plans come when they are ready; tests that want them wait for them.
  options.policy = "online";
  return options;
}

std::string name_of(Means means) {
  switch (means) {
    case Means::kRecompute:
      return "recompute";
    case Means::kHost:
      return "host";
    case Means::kMixed:
      return "mixed";
  }
  return "?";
}

}  // namespace lowtide::torch_test
