// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "report/storage_story.h"

#include <algorithm>
#include <utility>

#include "base/bytes.h"
#include "base/check.h"
#include "cost/op_cost.h"
#include "report/places.h"
#include "report/recompute_price.h"
#include "trace/lifetimes.h"

namespace lowtide::report {
namespace {

using base::concat;
using base::format_seconds;
using Fate = StorageStory::Fate;
using Deed = plan::OnlineDeed;

// Goes through plan and log of a study once, and keeps what concerns each storage.
class Storyteller {
 public:
  explicit Storyteller(const Study& study)
      : study_(study), trace_(study.trace()), stories_(trace_.storages().size()) {
    for (std::size_t i = 0; i < stories_.size(); ++i) {
      stories_[i].storage = make_id<StorageId>(i);
      stories_[i].bytes = cost::device_bytes(trace_.storages()[i], study.machine());
    }
    find_idle_times();
    if (study.record.online) {
      count_deeds();
      return;
    }
    count_actions();
    add_times();
  }

  std::vector<StorageStory> tell(std::size_t most) {
    // What was touched, then what was not; those that are only there for a moment come last.
    const auto rank = [](const StorageStory& story) {
      if (story.fate != Fate::kKept) return 2;
      return story.idle_seconds > 0 ? 1 : 0;
    };
    std::stable_sort(stories_.begin(), stories_.end(), [&](const auto& a, const auto& b) {
      return std::pair(rank(a), a.bytes) > std::pair(rank(b), b.bytes);
    });
    if (stories_.size() > most) stories_.resize(most);
    const RecomputePrices prices(study_.record.online ? study_.plain : study_.after());
    for (StorageStory& story : stories_) explain(story, prices);
    return std::move(stories_);
  }

 private:
  StorageStory& of(ValueId value) { return stories_[trace_.value(value).storage.slot()]; }

  // Uses of a storage are those of its values, one after another.
  void find_idle_times() {
    std::vector<OpId> last_use(stories_.size());
    const std::vector<TickUse>& ticks = study_.plain.timeline.ticks;
    const auto use_at = [&](ValueId value, OpId op) {
      StorageStory& story = of(value);
      OpId& last = last_use[story.storage.slot()];
      const double idle =
          last.valid() ? ticks[op.slot()].start_seconds - ticks[last.slot()].end_seconds : 0;
      if (idle > story.idle_seconds) {
        story.idle_seconds = idle;
        story.idle_after = last;
        story.idle_until = op;
      }
      last = op;
    };
    for (std::size_t i = 0; i < trace_.ops().size(); ++i) {
      const auto op = make_id<OpId>(i);
      for (const Use& use : trace_.reads(op)) use_at(use.value, op);
      for (const Use& use : trace_.writes(op)) use_at(use.value, op);
    }
  }

  void count_actions() {
    if (!study_.planned) return;
    for (const Action& action : study_.planned->plan.actions) {
      if (const auto* move = std::get_if<Move>(&action)) ++of(move->value).moves;
      if (const auto* fetch = std::get_if<Fetch>(&action)) ++of(fetch->value).fetches;
      if (const auto* drop = std::get_if<Drop>(&action)) ++of(drop->value).drops;
      if (const auto* encode = std::get_if<Encode>(&action)) {
        of(encode->value).fate = Fate::kEncoded;
      }
    }
  }

  void add_times() {
    if (!study_.planned) return;
    const SimulatedStep& step = *study_.planned;
    for (const sim::Copy& copy : step.log.copies) {
      of(copy.value).copy_seconds += copy.end_seconds - copy.start_seconds;
    }
    for (const Stall& stall : step.timeline.stalls) {
      if (stall.value.valid()) of(stall.value).exposed_seconds += stall.seconds;
    }
    for (const sim::Work& work : step.log.works) {
      if (work.kind != sim::Work::Kind::kReplay) continue;
      for (const Use& use : trace_.writes(work.op)) {
        if (use.side_effect) continue;
        ++of(use.value).replays;
        of(use.value).replay_seconds += work.end_seconds - work.start_seconds;
      }
    }
    for (StorageStory& story : stories_) set_fate(story);
  }

  static void set_fate(StorageStory& story) {
    if (story.fate == Fate::kEncoded) return;
    const bool is_moved = story.moves + story.fetches > 0;
    const bool is_recomputed = story.drops > 0 && story.replays > 0;
    if (is_moved) story.fate = is_recomputed ? Fate::kBoth : Fate::kMoved;
    if (is_recomputed && !is_moved) story.fate = Fate::kRecomputed;
  }

  // The rule copies when there is no other room, or when an op waits: nothing of that is hidden.
  void count_deeds() {
    for (const Deed& deed : *study_.record.online) {
      StorageStory& story = stories_[deed.storage.slot()];
      const bool is_eviction = deed.kind == Deed::Kind::kDrop || deed.kind == Deed::Kind::kMove;
      if (is_eviction && !story.price && deed.price.is_known()) story.price = deed.price;
      if (deed.kind == Deed::Kind::kDrop) ++story.drops;
      if (deed.kind == Deed::Kind::kMove) ++story.moves;
      if (deed.kind == Deed::Kind::kFetch) ++story.fetches;
      if (deed.kind == Deed::Kind::kReplay) ++story.replays;
      story.replay_seconds += deed.seconds;
      story.copy_seconds += copy_seconds(deed);
    }
    for (StorageStory& story : stories_) {
      story.exposed_seconds = story.copy_seconds;
      set_fate(story);
      if (story.fate == Fate::kKept && story.drops > 0) story.fate = Fate::kDropped;
    }
    for (const Deed& deed : *study_.record.online) {
      if (deed.kind == Deed::Kind::kAway) stories_[deed.storage.slot()].fate = Fate::kMoved;
    }
  }

  double copy_seconds(const Deed& deed) const {
    if (study_.machine().tiers.empty()) return 0;
    const Tier& host = study_.machine().tiers.front();
    const std::int64_t bytes = trace_.storage(deed.storage).bytes;
    if (deed.kind == Deed::Kind::kFetch) return cost::read_seconds(host, bytes);
    const bool is_copied = deed.kind == Deed::Kind::kMove && deed.is_copied;
    return is_copied ? cost::write_seconds(host, bytes) : 0;
  }

  // The version that is there in the longest idle time.
  ValueId idle_value(const StorageStory& story) const {
    ValueId found;
    for (const ValueId value : trace_.versions(story.storage)) {
      const trace::Lifetimes& lifetimes = *trace_.lifetimes();
      const trace::Tick after = lifetimes.tick_of(story.idle_after);
      if (lifetimes.of(value).born <= after && lifetimes.of(value).dies > after) found = value;
    }
    return found;
  }

  void explain(StorageStory& story, const RecomputePrices& prices) const {
    story.place = place_of(trace_, story.storage);
    if (!study_.machine().tiers.empty()) {
      const Tier& host = study_.machine().tiers.front();
      const std::int64_t bytes = trace_.storage(story.storage).bytes;
      story.transfer_seconds = cost::write_seconds(host, bytes) + cost::read_seconds(host, bytes);
    }
    if (story.idle_after.valid()) {
      const ValueId value = idle_value(story);
      if (value.valid()) story.recompute_seconds = prices.of(value, story.idle_until);
    }
    if (story.price) story.recompute_seconds = story.price->drop_seconds;
    story.reason = study_.record.online ? reason_of_the_rule(story) : reason_for(story);
  }

  std::string reason_of_the_rule(const StorageStory& story) const {
    if (story.fate == Fate::kKept) return reason_to_leave(story);
    std::string words = story.price ? words_of_price(*story.price) : words_of_no_choice(story);
    if (story.replays > 0) {
      words += concat("; running again took ", format_seconds(story.replay_seconds));
    }
    const bool is_back = story.replays + story.fetches > 0;
    return is_back ? words : words + "; not asked for again in this step";
  }

  static std::string words_of_no_choice(const StorageStory& story) {
    const bool has_left = story.moves + story.drops > 0;
    return has_left ? "a plan had begun to move it; the rule did not choose it"
                    : "away when the step began";
  }

  static std::string words_of_price(const plan::EvictionPrice& price) {
    std::string words =
        concat("unused for ", format_seconds(price.unused_seconds), " when room was needed");
    if (price.move_seconds) {
      words += concat("; moving was taken to cost ", format_seconds(*price.move_seconds));
    }
    if (!price.drop_seconds) return words + ", and it cannot be recomputed";
    return concat(words, price.move_seconds ? ", " : "; ", "recomputing ",
                  format_seconds(*price.drop_seconds));
  }

  std::string reason_to_leave(const StorageStory& story) const {
    if (study_.record.online->empty()) return "there was room for all";
    if (story.idle_seconds <= 0) return "never idle between its uses";
    return concat("idle for ", format_seconds(story.idle_seconds),
                  " at most; others were cheaper for their size, or longer unused");
  }

  std::string reason_for(const StorageStory& story) const {
    switch (story.fate) {
      case Fate::kKept:
        return reason_to_keep(story);
      case Fate::kEncoded:
        return "held in fewer bytes while it lies idle";
      case Fate::kMoved:
        return concat(words_of_copies(story), "; ", words_of_recomputing(story));
      case Fate::kRecomputed:
        return concat("running again takes ", format_seconds(story.replay_seconds),
                      story.transfer_seconds ? concat(", its copies would take the link ",
                                                      format_seconds(*story.transfer_seconds))
                                             : std::string());
      case Fate::kBoth:
        return concat(words_of_copies(story), "; at another time running again took ",
                      format_seconds(story.replay_seconds));
      case Fate::kDropped:
        return "not asked for again";
    }
    return "";
  }

  static std::string words_of_recomputing(const StorageStory& story) {
    if (!story.recompute_seconds) return "it cannot be recomputed";
    return concat("recomputing would take ", format_seconds(*story.recompute_seconds));
  }

  static std::string words_of_copies(const StorageStory& story) {
    if (story.exposed_seconds <= 0) return "its copies are hidden behind compute";
    return concat(format_seconds(story.exposed_seconds), " of its copies are waited for");
  }

  std::string reason_to_keep(const StorageStory& story) const {
    const Storage& storage = trace_.storage(story.storage);
    if (!study_.planned) return "nothing was planned";
    if (storage.pinned) return "pinned: it may not leave";
    if (story.idle_seconds <= 0) return "never idle between its uses";
    const std::string idle = concat("idle for ", format_seconds(story.idle_seconds), " at most");
    if (story.transfer_seconds && story.idle_seconds < *story.transfer_seconds) {
      return concat(idle, ", less than the ", format_seconds(*story.transfer_seconds),
                    " of moving it out and back");
    }
    const trace::Tick peak = trace_.lifetimes()->tick_of(study_.memory.plain_peak_op);
    const bool is_idle_at_peak = trace_.lifetimes()->tick_of(story.idle_after) < peak &&
                                 peak < trace_.lifetimes()->tick_of(story.idle_until);
    return idle + (is_idle_at_peak ? "; others free enough for less" : ", but not at the peak");
  }

  const Study& study_;
  const Trace& trace_;
  std::vector<StorageStory> stories_;
};

}  // namespace

std::string_view to_string(StorageStory::Fate fate) {
  switch (fate) {
    case Fate::kKept:
      return "kept";
    case Fate::kMoved:
      return "moved";
    case Fate::kRecomputed:
      return "recomputed";
    case Fate::kBoth:
      return "moved and recomputed";
    case Fate::kEncoded:
      return "encoded";
    case Fate::kDropped:
      return "dropped";
  }
  return "unknown";
}

std::vector<StorageStory> tell_storages(const Study& study, std::size_t most) {
  return Storyteller(study).tell(most);
}

}  // namespace lowtide::report
