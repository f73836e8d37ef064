// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
//
// Bae et al., FlashNeuron: SSD-enabled large-batch training of very deep neural networks, FAST
// 2021.
//
// What the forward pass leaves for the backward pass goes to an SSD. The scheduler of the paper
// works in two phases. The first takes these values in the order in which the forward pass makes
// them until the rest fits, uncompressed. If the SSD can write them during the forward pass and
// read them during the backward pass, that is the schedule. Otherwise the second phase compresses
// what it can and goes on by compressibility: the selected value that compresses worst makes place
// for those outside that compress best, as long as that leaves less to transfer.
//
// Where this departs from the paper: the copies pass through host memory, since a tier lies behind
// the one before it; the paper has GPU and SSD talk directly. Codecs are those that a storage
// names, not sparse rows in half precision. Copies back begin so early that the link is through
// with them when they are needed, where there is room. Values below a share of the mean are left
// alone. The second schedule is taken if the simulator finds it faster, not by the condition alone.
//
// Limits: parameters, gradients and optimizer states stay. Recorded steps name no codecs, so for
// them the first phase is all; a disk is slow for them, too, and to=host shows the same choice with
// a faster link. In a session the engine spreads what moves over host memory and disk by itself,
// and compresses nothing.
#include <algorithm>
#include <functional>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/bytes.h"
#include "base/check.h"
#include "lowtide/simulate.h"
#include "policy/factories.h"
#include "policy/fetch_ahead.h"
#include "policy/gap_writer.h"
#include "policy/hybrid/step_clock.h"
#include "policy/option_reader.h"
#include "solve/range_max.h"
#include "trace/gaps.h"
#include "trace/layers.h"

namespace lowtide::policy {
namespace {

using trace::Tick;

struct FlashNeuronOptions {
  bool to_disk = true;
  double ignore_below = 0.01;
};

// A value that the backward pass reads again, and how it could be compressed.
struct Saved {
  ValueId value;
  Tick after = 0;
  Tick need = 0;
  const CodecOption* codec = nullptr;
  // Bytes to transfer for each byte of the value, with that codec.
  double ratio = 1;
};

class FlashNeuronPlanner {
 public:
  FlashNeuronPlanner(const Problem& problem, const FlashNeuronOptions& options)
      : problem_(problem),
        trace_(*problem.trace),
        lifetimes_(*trace_.lifetimes()),
        costs_(trace_, problem.machine),
        clock_(problem),
        plain_bytes_(weigh({}).tick_bytes) {
    const std::size_t tiers = problem.machine.tiers.size();
    if (tiers == 0) return;
    tier_ = make_id<TierId>(options.to_disk ? tiers - 1 : 0);
    find_saved(options.ignore_below);
    const trace::PhaseStarts starts(trace_);
    forward_seconds_ = clock_.start(starts.of(Phase::kBackward).value_or(lifetimes_.end()));
    backward_seconds_ =
        clock_.start(starts.of(Phase::kOptimizer).value_or(lifetimes_.end())) - forward_seconds_;
  }

  PlanOutcome plan() {
    Schedule schedule(*this);
    schedule.select_in_order();
    if (schedule.most_bytes() > problem_.budget_bytes) {
      return Refusal{.reason = base::concat("with everything moved that is saved for the backward "
                                            "pass the step still takes ",
                                            base::format_bytes(schedule.most_bytes())),
                     .smallest_budget_bytes = schedule.most_bytes()};
    }
    Plan first = write(schedule);
    if (!compresses_anything() || schedule.is_hidden()) return first;
    schedule.select_by_compressibility();
    Plan second = write(schedule);
    const bool is_faster = verify(problem_, second).ok() &&
                           simulate(problem_, second).seconds < simulate(problem_, first).seconds;
    return is_faster ? second : first;
  }

 private:
  // Which values are selected, and what the step holds then.
  class Schedule {
   public:
    explicit Schedule(const FlashNeuronPlanner& planner)
        : planner_(planner),
          profile_(planner.plain_bytes_),
          is_selected_(planner.saved_.size(), false) {}

    std::int64_t most_bytes() const { return profile_.max(); }
    bool is_selected(std::size_t i) const { return is_selected_[i]; }
    // The codec in which it moves, if any.
    const CodecOption* codec(std::size_t i) const {
      return compresses_ ? planner_.saved_[i].codec : nullptr;
    }
    std::int64_t copy_bytes(std::size_t i) const {
      return codec(i) != nullptr ? codec(i)->bytes
                                 : planner_.trace_.storage_of(planner_.saved_[i].value).bytes;
    }
    bool fits() const { return profile_.max() <= planner_.problem_.budget_bytes; }
    // Whether the forward pass is as long as the copies there, and the backward pass as those back.
    bool is_hidden() const {
      return write_seconds_ <= planner_.forward_seconds_ &&
             read_seconds_ <= planner_.backward_seconds_;
    }

    // The first phase.
    void select_in_order() {
      for (std::size_t i = 0; i < is_selected_.size() && !fits(); ++i) {
        if (has_space(i)) select(i, true);
      }
    }

    // The second phase.
    void select_by_compressibility() {
      for (std::size_t i = 0; i < is_selected_.size(); ++i) {
        if (is_selected_[i]) count(i, -1);
      }
      compresses_ = true;
      std::vector<std::size_t> inside;
      std::vector<std::size_t> outside;
      for (std::size_t i = 0; i < is_selected_.size(); ++i) {
        if (is_selected_[i]) count(i, 1);
        (is_selected_[i] ? inside : outside).push_back(i);
      }
      sort_by_ratio(inside);
      sort_by_ratio(outside);
      std::reverse(inside.begin(), inside.end());
      auto next = outside.begin();
      for (const std::size_t worst : inside) {
        if (is_hidden() || !exchange(worst, next, outside.end())) return;
      }
    }

    // Room for a copy that begins ahead of its use; compressed values take both forms until then.
    bool take_room(std::span<const Presence> wanted) {
      for (const Presence& one : wanted) add(one, 1);
      if (fits()) return true;
      for (const Presence& one : wanted) add(one, -1);
      return false;
    }

    void remember_codecs() {
      encoded_bytes_.assign(planner_.trace_.values().size(), 0);
      for (std::size_t i = 0; i < is_selected_.size(); ++i) {
        if (is_selected_[i]) encoded_bytes_[planner_.saved_[i].value.slot()] = encoded_bytes(i);
      }
    }

   private:
    using Iterator = std::vector<std::size_t>::iterator;

    void sort_by_ratio(std::vector<std::size_t>& indices) const {
      std::stable_sort(indices.begin(), indices.end(), [&](std::size_t a, std::size_t b) {
        return planner_.saved_[a].ratio < planner_.saved_[b].ratio;
      });
    }

    // Has the worst one stay and others go for it, from `next` on. False, and nothing is changed,
    // if there is more to transfer then.
    bool exchange(std::size_t worst, Iterator& next, Iterator end) {
      const std::int64_t before = moved_bytes_;
      const Iterator first = next;
      select(worst, false);
      for (; next != end && !fits() && moved_bytes_ < before; ++next) {
        if (has_space(*next)) select(*next, true);
      }
      if (fits() && moved_bytes_ < before) return true;
      for (auto it = first; it != next; ++it) {
        if (is_selected_[*it]) select(*it, false);
      }
      next = first;
      select(worst, true);
      return false;
    }

    bool has_space(std::size_t i) const {
      return moved_bytes_ + copy_bytes(i) <=
             planner_.problem_.machine.tier(planner_.tier_).capacity_bytes;
    }

    void select(std::size_t i, bool selected) {
      is_selected_[i] = selected;
      count(i, selected ? 1 : -1);
    }

    std::int64_t encoded_bytes(std::size_t i) const {
      return codec(i) == nullptr ? 0
                                 : cost::device_bytes(codec(i)->bytes, planner_.problem_.machine);
    }

    // Without its bytes between its uses; both forms are there when it is compressed, and when it
    // is back.
    void count(std::size_t i, std::int64_t sign) {
      const auto& [value, after, need, any_codec, ratio] = planner_.saved_[i];
      const auto from = static_cast<std::size_t>(after);
      const auto to = static_cast<std::size_t>(need);
      profile_.add(from + 1, to - 1, -sign * planner_.costs_.value(value));
      profile_.add(from, from, sign * encoded_bytes(i));
      profile_.add(to, to, sign * encoded_bytes(i));
      moved_bytes_ += sign * copy_bytes(i);
      const Tier& tier = planner_.problem_.machine.tier(planner_.tier_);
      write_seconds_ += static_cast<double>(sign) * cost::write_seconds(tier, copy_bytes(i));
      read_seconds_ += static_cast<double>(sign) * cost::read_seconds(tier, copy_bytes(i));
    }

    void add(const Presence& one, std::int64_t sign) {
      const std::int64_t bytes =
          planner_.costs_.value(one.value) + encoded_bytes_[one.value.slot()];
      profile_.add(static_cast<std::size_t>(one.first), static_cast<std::size_t>(one.last),
                   sign * bytes);
    }

    const FlashNeuronPlanner& planner_;
    solve::RangeMax profile_;
    std::vector<bool> is_selected_;
    bool compresses_ = false;
    std::int64_t moved_bytes_ = 0;
    double write_seconds_ = 0;
    double read_seconds_ = 0;
    // By value, for those that are compressed.
    std::vector<std::int64_t> encoded_bytes_;
  };

  static bool is_left_by_forward(StorageKind kind) {
    return kind == StorageKind::kActivation || kind == StorageKind::kInput ||
           kind == StorageKind::kTemporary;
  }

  // In the order of the forward pass.
  void find_saved(double ignore_below) {
    std::int64_t bytes = 0;
    for (const trace::Gap& gap : trace::gaps(trace_, lifetimes_)) {
      const Storage& storage = trace_.storage_of(gap.value);
      if (!is_left_by_forward(storage.kind) || storage.pinned || !spans_turn(gap)) continue;
      saved_.push_back({gap.value, gap.from, gap.to, nullptr, 1});
      choose_codec(storage, saved_.back());
      bytes += storage.bytes;
    }
    const double smallest = ignore_below * static_cast<double>(bytes) /
                            static_cast<double>(std::max<std::size_t>(1, saved_.size()));
    std::erase_if(saved_, [&](const Saved& saved) {
      return static_cast<double>(trace_.storage_of(saved.value).bytes) < smallest;
    });
    std::stable_sort(saved_.begin(), saved_.end(),
                     [](const Saved& a, const Saved& b) { return a.after < b.after; });
  }

  bool spans_turn(const trace::Gap& gap) const {
    const auto& reads = lifetimes_.of(gap.value).reads;
    return gap.from >= 0 && phase_at(gap.from) == Phase::kForward && gap.to < lifetimes_.end() &&
           phase_at(gap.to) == Phase::kBackward &&
           std::binary_search(reads.begin(), reads.end(), gap.to);
  }

  Phase phase_at(Tick tick) const { return trace_.op(lifetimes_.op_at(tick)).phase; }

  void choose_codec(const Storage& storage, Saved& saved) const {
    std::int64_t least = storage.bytes;
    for (const CodecOption& codec : storage.codecs) {
      if (codec.bytes >= least || !(codec.lossless || problem_.allow_lossy)) continue;
      least = codec.bytes;
      saved.codec = &codec;
      saved.ratio = static_cast<double>(codec.bytes) / static_cast<double>(storage.bytes);
    }
  }

  bool compresses_anything() const {
    return std::any_of(saved_.begin(), saved_.end(),
                       [](const Saved& saved) { return saved.codec != nullptr; });
  }

  WrittenPlan weigh(const GapDecisions& decisions) const {
    std::optional<WrittenPlan> written = weigh_gaps(problem_, lifetimes_, costs_, decisions, 0);
    LT_CHECK(written, "moved values come back without replays");
    return *std::move(written);
  }

  Plan write(Schedule schedule) const {
    GapDecisions decisions;
    std::vector<const CodecOption*> codecs(trace_.values().size(), nullptr);
    for (std::size_t i = 0; i < saved_.size(); ++i) {
      if (!schedule.is_selected(i)) continue;
      const Saved& saved = saved_[i];
      decisions.swaps.push_back({saved.value, tier_, saved.after, saved.need, saved.need});
      codecs[saved.value.slot()] = schedule.codec(i);
    }
    schedule.remember_codecs();
    fetch_ahead(
        problem_, clock_, [&](auto wanted) { return schedule.take_room(wanted); }, decisions.swaps);
    WrittenPlan written = write_moves(problem_, lifetimes_, costs_, decisions);
    for (Action& action : written.actions) {
      Move* move = std::get_if<Move>(&action);
      if (move == nullptr || codecs[move->value.slot()] == nullptr) continue;
      move->codec = codecs[move->value.slot()]->name;
    }
    return finish_plan(problem_, "flashneuron", std::move(written));
  }

  const Problem& problem_;
  const Trace& trace_;
  const trace::Lifetimes& lifetimes_;
  const cost::CostTable costs_;
  const StepClock clock_;
  const std::vector<std::int64_t> plain_bytes_;
  TierId tier_;
  std::vector<Saved> saved_;
  double forward_seconds_ = 0;
  double backward_seconds_ = 0;
};

class FlashNeuron final : public Policy {
 public:
  explicit FlashNeuron(const FlashNeuronOptions& options) : options_(options) {}
  PlanOutcome plan(const Problem& problem) const override {
    return FlashNeuronPlanner(problem, options_).plan();
  }

 private:
  FlashNeuronOptions options_;
};

}  // namespace

std::unique_ptr<Policy> make_flashneuron(const PolicyOptions& options) {
  OptionReader reader("flashneuron", options);
  FlashNeuronOptions parsed;
  parsed.to_disk = reader.choice<bool>("to", parsed.to_disk, {{"disk", true}, {"host", false}});
  parsed.ignore_below = reader.number("ignore_below", parsed.ignore_below, 0, 1);
  reader.finish();
  return std::make_unique<FlashNeuron>(parsed);
}

}  // namespace lowtide::policy
