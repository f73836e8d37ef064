// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "solve/genetic_search.h"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <numeric>

#include <gtest/gtest.h>

#include "solve/order_variation.h"

namespace lowtide::solve {
namespace {

using Order = std::vector<std::int32_t>;

// Jobs one after the other on one machine, some before others; what counts is by how much each is
// late, times its weight.
struct Jobs {
  std::vector<double> seconds;
  std::vector<double> due;
  std::vector<double> weight;
  std::vector<Precedence> precedences;

  double cost(const Order& order) const {
    double now = 0;
    double sum = 0;
    for (const std::int32_t job : order) {
      const auto i = static_cast<std::size_t>(job);
      now += seconds[i];
      sum += weight[i] * std::max(0.0, now - due[i]);
    }
    return sum;
  }

  bool allows(const Order& order) const {
    std::vector<std::size_t> place(order.size());
    for (std::size_t i = 0; i < order.size(); ++i) place[static_cast<std::size_t>(order[i])] = i;
    return std::all_of(precedences.begin(), precedences.end(), [&](const Precedence& p) {
      return place[static_cast<std::size_t>(p.before)] < place[static_cast<std::size_t>(p.after)];
    });
  }

  double least_of_all_orders() const {
    Order order(seconds.size());
    std::iota(order.begin(), order.end(), 0);
    double least = std::numeric_limits<double>::infinity();
    do {
      if (allows(order)) least = std::min(least, cost(order));
    } while (std::next_permutation(order.begin(), order.end()));
    return least;
  }
};

Jobs random_jobs(std::uint64_t seed) {
  constexpr std::int32_t kJobs = 7;
  base::Random random(seed);
  Jobs jobs;
  for (std::int32_t i = 0; i < kJobs; ++i) {
    jobs.seconds.push_back(static_cast<double>(1 + random.below(9)));
    jobs.due.push_back(static_cast<double>(random.below(30)));
    jobs.weight.push_back(static_cast<double>(1 + random.below(5)));
    for (std::int32_t before = 0; before < i; ++before) {
      if (random.below(6) == 0) jobs.precedences.push_back({before, i});
    }
  }
  return jobs;
}

class Task {
 public:
  explicit Task(const Jobs& jobs)
      : variation_(static_cast<std::int32_t>(jobs.seconds.size()), jobs.precedences) {
    task.make = [this, count = jobs.seconds.size()](std::int32_t, base::Random& random) {
      Order order(count);
      std::iota(order.begin(), order.end(), 0);
      for (int i = 0; i < 10; ++i) variation_.move_one(order, 7, random);
      return order;
    };
    task.cross = [](const Order& a, const Order& b, base::Random& random) {
      return cross_orders(a, b, random.below(a.size() + 1));
    };
    task.mutate = [this](Order& order, base::Random& random) {
      variation_.move_one(order, 7, random);
    };
    task.cost = [&jobs](const Order& order) { return jobs.cost(order); };
  }

  GeneticTask<Order> task;

 private:
  OrderVariation variation_;
};

TEST(GeneticSearch, FindsTheBestOfAllOrdersOfAFewJobs) {
  for (std::uint64_t seed = 1; seed <= 10; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Jobs jobs = random_jobs(seed);
    const Task task(jobs);
    const GeneticOptions options{.population = 30, .generations = 60, .seed = seed};
    const auto found = GeneticSearch<Order>(options, task.task).run();
    EXPECT_TRUE(jobs.allows(found.best));
    EXPECT_EQ(found.cost, jobs.cost(found.best));
    EXPECT_EQ(found.cost, jobs.least_of_all_orders());
  }
}

TEST(GeneticSearch, IsTheSameEachTimeAndBetterThanItsFirstGeneration) {
  const Jobs jobs = random_jobs(3);
  const Task task(jobs);
  const auto run = [&](std::int32_t generations) {
    return GeneticSearch<Order>({.population = 6, .generations = generations}, task.task).run();
  };
  EXPECT_EQ(run(20).best, run(20).best);
  EXPECT_LT(run(20).cost, run(0).cost);
  EXPECT_EQ(run(0).rated, 6);
  // Two of six live on.
  EXPECT_EQ(run(20).rated, 6 + 20 * 4);
}

TEST(GeneticSearch, StopsWhenToldAndHasTheBestSoFar) {
  const Jobs jobs = random_jobs(5);
  Task task(jobs);
  double least = std::numeric_limits<double>::infinity();
  int asked = 0;
  const auto cost = task.task.cost;
  task.task.cost = [&](const Order& order) {
    least = std::min(least, cost(order));
    return cost(order);
  };
  task.task.stop = [&](double so_far) {
    EXPECT_EQ(so_far, least);
    return ++asked == 12;
  };
  const auto found = GeneticSearch<Order>({.population = 8, .generations = 1000}, task.task).run();
  EXPECT_EQ(found.rated, 12);
  EXPECT_EQ(found.cost, least);
}

TEST(GeneticSearch, WhatWillNotDoIsLeftBehind) {
  // Numbers below 100; only one in ten of the first ones will do.
  GeneticTask<int> task;
  task.make = [](std::int32_t i, base::Random&) { return 10 * i + 5; };
  task.cross = [](const int& a, const int& b, base::Random&) { return (a + b) / 2; };
  task.mutate = [](int& number, base::Random& random) {
    number += static_cast<int>(random.below(7)) - 3;
  };
  task.cost = [](const int& number) {
    return number < 40 || number > 50 ? std::numeric_limits<double>::infinity()
                                      : static_cast<double>(std::abs(number - 41));
  };
  const auto found =
      GeneticSearch<int>({.population = 10, .generations = 30, .mutation_rate = 1}, task).run();
  EXPECT_EQ(found.best, 41);
  EXPECT_EQ(found.cost, 0);
}

TEST(GeneticSearch, OneAloneIsRatedOnce) {
  const Jobs jobs = random_jobs(1);
  const Task task(jobs);
  const auto found = GeneticSearch<Order>({.population = 1, .generations = 50}, task.task).run();
  EXPECT_EQ(found.rated, 1);
  EXPECT_EQ(found.cost, jobs.cost(found.best));
}

}  // namespace
}  // namespace lowtide::solve
