// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "base/random.h"

namespace lowtide::solve {

// Who has children is drawn by roulette. The weights are by rank (the best of n has n times that of
// the worst), which do not depend on the scale of costs, or inverse to the costs (infinite ones
// have none, unless all are).
enum class Selection : std::uint8_t { kByRank, kByCost };

struct GeneticOptions {
  // How many live at once, and how often they are replaced.
  std::int32_t population = 16;
  std::int32_t generations = 20;
  // So many of the best live on as they are. At least one, so that the best is never lost.
  std::int32_t elite = 2;
  // The share of children that are mutated.
  double mutation_rate = 0.5;
  Selection selection = Selection::kByRank;
  std::uint64_t seed = 1;
};

// What is searched: genomes, and how to make, rate and vary them.
template <class Genome>
struct GeneticTask {
  // One of the first generation, by its number.
  std::function<Genome(std::int32_t, base::Random&)> make;
  std::function<Genome(const Genome&, const Genome&, base::Random&)> cross;
  std::function<void(Genome&, base::Random&)> mutate;
  // The lower the better; infinite if it will not do at all.
  std::function<double(const Genome&)> cost;
  // Asked before each genome but the first is rated; if it says yes, the search ends with what it
  // has. The argument is the lowest cost so far. May be left out.
  std::function<bool(double)> stop = {};
};

template <class Genome>
struct GeneticResult {
  Genome best;
  double cost = std::numeric_limits<double>::infinity();
  // How many were rated.
  std::int64_t rated = 0;
};

// Minimises a cost by a genetic search: the next generation are the elite and children of two
// parents each, drawn as options say. The same options give the same result.
// Requires: population >= 1; the functions draw from the given generator only.
template <class Genome>
class GeneticSearch {
 public:
  GeneticSearch(const GeneticOptions& options, const GeneticTask<Genome>& task)
      : options_(options), task_(task), random_(options.seed) {}

  GeneticResult<Genome> run() {
    for (std::int32_t i = 0; i < options_.population && !is_over_; ++i) {
      rate(task_.make(i, random_));
    }
    for (std::int32_t i = 0; i < options_.generations && !is_over_; ++i) replace_generation();
    return {std::move(best_.genome), best_.cost, rated_};
  }

 private:
  struct Rated {
    Genome genome;
    double cost = std::numeric_limits<double>::infinity();
  };

  void rate(Genome genome) {
    if (rated_ > 0 && task_.stop && task_.stop(best_.cost)) {
      is_over_ = true;
      return;
    }
    const double cost = task_.cost(genome);
    if (rated_++ == 0 || cost < best_.cost) best_ = {genome, cost};
    living_.push_back({std::move(genome), cost});
  }

  void replace_generation() {
    std::stable_sort(living_.begin(), living_.end(),
                     [](const Rated& a, const Rated& b) { return a.cost < b.cost; });
    const std::vector<Rated> parents = std::exchange(living_, {});
    const auto elite = static_cast<std::size_t>(std::max(options_.elite, 1));
    living_.assign(parents.begin(),
                   parents.begin() + static_cast<std::ptrdiff_t>(std::min(elite, parents.size())));
    while (living_.size() < parents.size() && !is_over_) {
      Genome child = task_.cross(parent(parents), parent(parents), random_);
      if (random_.uniform() < options_.mutation_rate) task_.mutate(child, random_);
      rate(std::move(child));
    }
    // A generation of one has nobody to replace.
    if (parents.size() <= elite) is_over_ = true;
  }

  // Requires: sorted, the best first.
  const Genome& parent(const std::vector<Rated>& sorted) {
    const bool is_by_cost = options_.selection == Selection::kByCost && std::isfinite(best_.cost);
    return is_by_cost ? draw_by_cost(sorted) : draw_by_rank(sorted);
  }

  // A cost of nothing would take all weight; it is given that of a tiny one.
  const Genome& draw_by_cost(const std::vector<Rated>& sorted) {
    const auto weight = [](const Rated& rated) {
      return 1 / std::max(rated.cost, std::numeric_limits<double>::min() * 1e9);
    };
    double total = 0;
    for (const Rated& rated : sorted) total += weight(rated);
    double ticket = random_.uniform() * total;
    for (const Rated& rated : sorted) {
      ticket -= weight(rated);
      if (ticket < 0) return rated.genome;
    }
    return sorted.front().genome;
  }

  // Of n(n+1)/2 tickets the best has n, the worst one.
  const Genome& draw_by_rank(const std::vector<Rated>& sorted) {
    const std::uint64_t n = sorted.size();
    std::uint64_t ticket = random_.below(n * (n + 1) / 2);
    std::size_t rank = 0;
    for (std::uint64_t tickets = n; ticket >= tickets; --tickets, ++rank) ticket -= tickets;
    return sorted[rank].genome;
  }

  const GeneticOptions options_;
  const GeneticTask<Genome>& task_;
  base::Random random_;
  std::vector<Rated> living_;
  Rated best_;
  std::int64_t rated_ = 0;
  bool is_over_ = false;
};

}  // namespace lowtide::solve
