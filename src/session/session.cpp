// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "lowtide/session.h"

#include "base/bytes.h"
#include "base/check.h"
#include "report/run_record.h"
#include "run/torch/failed_backward.h"
#include "run/torch/interceptor.h"
#include "session/attendance.h"
#include "session/devices.h"
#include "session/guidance.h"
#include "session/policies.h"
#include "session/run_record.h"
#include "session/spill.h"
#include "session/surroundings.h"
#include "session/warn.h"
#include "trace/names.h"

namespace lowtide {
namespace session {

// One session's own settings, and what it must put back.
class Impl {
 public:
  explicit Impl(const SessionOptions& options);
  ~Impl();
  Impl(const Impl&) = delete;
  Impl& operator=(const Impl&) = delete;

  SessionStats stats();
  void reset_peaks();
  run::Runtime& runtime() { return managed_.runtime; }
  void capture_next();
  void begin_step();
  void end_step();
  void abandon_step();
  // Throws InvalidInput if no step was captured.
  Trace captured(const std::string& name) { return user_capture_.trace(name, runtime().timer()); }
  std::string run_record(const std::string& title);

 private:
  void apply();
  void leave_to_inner();
  void make_room();
  GuidanceOptions guidance_options() const;
  void add_guidance(SessionStats& stats);
  void add_spill(SessionStats& stats, run::Books::Lock& lock);
  void warn_of_failing_disk();
  StepUse use_since_last_step();
  void step_aside();
  void come_back();

  SessionOptions options_;
  ManagedDevice& managed_;
  run::Rules rules_;
  std::int64_t budget_bytes_;
  std::int64_t host_cap_bytes_;
  // Null: there is none.
  std::shared_ptr<tier::SpillFile> spill_file_;
  tier::SpillStats spill_at_start_;
  double waited_at_start_ = 0;
  bool has_warned_of_disk_ = false;
  // The session around this one, if any.
  Impl* outer_;
  bool thread_was_managed_ = false;
  run::Counters at_start_;
  std::int64_t overflow_at_start_ = 0;
  std::int64_t stitches_at_start_ = 0;
  std::int64_t shortages_at_start_ = 0;

  bool captures_next_ = false;
  bool is_captured_for_user_ = false;
  run::Capture user_capture_;
  Attendance attendance_;
  // Null: steps are never planned.
  std::unique_ptr<Guidance> guidance_;
  run::GuideCounters guide_at_start_;
  bool is_aside_ = false;
  std::int64_t steps_aside_ = 0;
  // At the end of the last step.
  std::int64_t held_before_ = 0;
  std::int64_t evictions_before_ = 0;
  std::int64_t overflow_before_ = 0;
};

namespace {

// The innermost session of the process.
Impl* innermost = nullptr;

run::Rules rules_from(const SessionOptions& options) {
  LT_REQUIRE(options.floor_bytes >= 0, "floor_bytes must not be negative, but is ",
             options.floor_bytes);
  return {.may_recompute = options.means != Means::kHost,
          .may_move = options.means != Means::kRecompute,
          .floor_bytes = options.floor_bytes,
          .evict_everything = options.evict_everything,
          .keeps_records = options.evict_everything || !options.budget.empty()};
}

// Enough to keep a link busy while the host is elsewhere.
std::int64_t most_bytes_in_flight(std::int64_t budget_bytes) {
  constexpr std::int64_t kShare = 4;
  return budget_bytes / kShare;
}

std::int64_t budget_from(const SessionOptions& options) {
  if (options.budget.empty()) return engine::Ledger::kNoBudget;
  const std::int64_t bytes = base::parse_bytes(options.budget);
  LT_REQUIRE(bytes > 0, "the budget must be more than nothing, but is \"", options.budget, "\"");
  return bytes;
}

// None for the online rule.
std::vector<std::unique_ptr<Policy>> policies_from(const SessionOptions& options) {
  const bool is_named = options.policy != "online" && options.policy != "auto";
  LT_REQUIRE(is_named || options.policy_options.empty(), "policy \"", options.policy,
             "\" has no options");
  std::vector<std::unique_ptr<Policy>> policies;
  if (options.policy == "online") return policies;
  policies.push_back(
      policy_within(is_named ? options.policy : "tide", options.means, options.policy_options));
  return policies;
}

}  // namespace

Impl::Impl(const SessionOptions& options)
    : options_(options),
      managed_(device_named(options.device, {.expandable_segments = options.expandable_segments,
                                             .own_pages = options.own_pages})),
      rules_(rules_from(options)),
      budget_bytes_(budget_from(options)),
      host_cap_bytes_(options.host_cap.empty() ? default_host_cap()
                                               : base::parse_bytes(options.host_cap)),
      spill_file_(open_spill_file(options)),
      outer_(innermost) {
  rules_.most_bytes_in_flight = most_bytes_in_flight(budget_bytes_);
  // Whatever may throw comes before anything is changed.
  LT_REQUIRE(options.batch >= 0, "batch must not be negative, but is ", options.batch);
  std::vector<std::unique_ptr<Policy>> policies = policies_from(options);
  LT_REQUIRE(outer_ == nullptr || &outer_->managed_ == &managed_, "a session on ",
             outer_ == nullptr ? "" : outer_->managed_.device.name(),
             " is open: sessions may be nested on one device only");
  if (outer_ != nullptr) outer_->come_back();
  thread_was_managed_ = run::is_thread_managed();
  {
    // Threads of an outer session may be at work.
    run::Books::Lock lock(managed_.runtime.books());
    at_start_ = managed_.runtime.books().counters;
    waited_at_start_ = managed_.runtime.books().moved(lock).waited_seconds();
    guide_at_start_ = managed_.runtime.guide().counters();
  }
  if (spill_file_) spill_at_start_ = spill_file_->stats();
  overflow_at_start_ = managed_.device.ledger().overflowed_bytes();
  stitches_at_start_ = managed_.device.stitches();
  shortages_at_start_ = managed_.device.ledger().shortages();
  if (outer_ == nullptr) {
    managed_.device.install();
    managed_.runtime.start();
    run::set_active_runtime(&managed_.runtime);
  }
  run::set_thread_managed(true);
  innermost = this;
  apply();
  if (outer_ != nullptr) make_room();
  managed_.device.ledger().reset_peak();
  use_since_last_step();
  // Plans of a session around this one are for another budget.
  managed_.runtime.stop_guiding();
  const bool is_planned = budget_bytes_ != engine::Ledger::kNoBudget && !rules_.evict_everything;
  if (is_planned && !policies.empty()) {
    guidance_ = std::make_unique<Guidance>(managed_, std::move(policies), guidance_options());
  }
}

Impl::~Impl() {
  if (innermost != this) {
    leave_to_inner();
    return;
  }
  come_back();
  // The step under way is guided no longer, nor captured for a plan.
  runtime().stop_guiding();
  const bool ends_capture = guidance_ != nullptr || outer_ == nullptr;
  if (ends_capture && runtime().is_capturing()) runtime().stop_capture();
  guidance_.reset();
  innermost = outer_;
  run::set_thread_managed(thread_was_managed_);
  if (outer_ != nullptr) {
    outer_->apply();
    if (outer_->guidance_) outer_->guidance_->resume();
    return;
  }
  managed_.device.ledger().set_budget(engine::Ledger::kNoBudget);
  managed_.device.limit(std::nullopt);
  try {
    managed_.runtime.stop();
  } catch (const std::exception& error) {
    warn(base::concat("not all tensors could be brought back at the end of the session: ",
                      error.what()));
  }
  {
    run::Books::Lock lock(runtime().books());
    runtime().books().moved(lock).set_file(nullptr, 0);
  }
  run::set_active_runtime(nullptr);
  managed_.device.remove();
}

// A session that was begun inside this one goes on, and counts: it puts back what this one would.
void Impl::leave_to_inner() {
  Impl* inside = innermost;
  while (inside->outer_ != this) inside = inside->outer_;
  inside->outer_ = outer_;
  inside->thread_was_managed_ = thread_was_managed_;
}

// What the session around this one holds may be more than this one's budget. Where too little of it
// can go, or a copy fails, the first op that asks for memory will say so: here a session that is
// half made would be left behind.
void Impl::make_room() {
  try {
    managed_.device.ledger().keep_cap();
  } catch (const Error&) {
  }
}

void Impl::apply() {
  engine::Device& device = managed_.device;
  device.set_host_cap(host_cap_bytes_);
  {
    run::Books& books = managed_.runtime.books();
    run::Books::Lock lock(books);
    books.set_rules(rules_, lock);
    books.moved(lock).set_file(spill_file_, host_cap_bytes_);
  }
  const bool is_capped = budget_bytes_ != engine::Ledger::kNoBudget && options_.cap_reserved;
  device.limit(is_capped ? std::optional(budget_bytes_) : std::nullopt);
  device.ledger().set_budget(budget_bytes_);
}

GuidanceOptions Impl::guidance_options() const {
  return {.budget_bytes = budget_bytes_,
          .host_cap_bytes = host_cap_bytes_,
          .spill_file = spill_file_,
          .caps_reserved = options_.cap_reserved && managed_.device.reserves(),
          .expandable_segments = options_.expandable_segments,
          .most_bytes_in_flight = rules_.most_bytes_in_flight,
          .waits_for_plans = options_.wait_for_plans};
}

SessionStats Impl::stats() {
  engine::Device& device = managed_.device;
  run::Books& books = managed_.runtime.books();
  run::Books::Lock lock(books);
  const run::Counters& now = books.counters;
  SessionStats stats;
  stats.budget_bytes = options_.budget.empty() ? 0 : budget_bytes_;
  stats.held_bytes = device.ledger().held_bytes();
  stats.peak_bytes = device.ledger().peak_bytes();
  stats.reserved_peak_bytes = device.reserved_peak_bytes();
  stats.stitches = device.stitches() - stitches_at_start_;
  stats.shortages = device.ledger().shortages() - shortages_at_start_;
  stats.host_bytes = device.host_held_bytes();
  stats.host_peak_bytes = device.host_peak_bytes();
  stats.steps = now.steps - at_start_.steps;
  stats.steps_aside = steps_aside_;
  stats.overflow_bytes = device.ledger().overflowed_bytes() - overflow_at_start_;
  stats.ops = now.ops - at_start_.ops;
  stats.drops = now.drops - at_start_.drops;
  stats.moves = now.moves - at_start_.moves;
  stats.evictions = stats.drops + stats.moves;
  stats.recomputes = now.recomputes - at_start_.recomputes;
  stats.recompute_seconds = now.recompute_seconds - at_start_.recompute_seconds;
  stats.bytes_to_host = now.bytes_to_host - at_start_.bytes_to_host;
  stats.bytes_from_host = now.bytes_from_host - at_start_.bytes_from_host;
  stats.records = books.records_alive;
  stats.record_held_bytes = books.record_held_bytes(lock);
  stats.kept_unsafe = now.kept_unsafe - at_start_.kept_unsafe;
  stats.relocations = now.relocations - at_start_.relocations;
  stats.chunked_ops = now.chunked_ops - at_start_.chunked_ops;
  add_guidance(stats);
  add_spill(stats, lock);
  return stats;
}

void Impl::add_spill(SessionStats& stats, run::Books::Lock& lock) {
  run::Books& books = managed_.runtime.books();
  stats.disk_values_recomputed = books.counters.copies_lost - at_start_.copies_lost;
  if (!spill_file_) return;
  const tier::SpillStats now = spill_file_->stats();
  stats.spill_bytes = now.held_bytes;
  stats.spill_peak_bytes = now.peak_bytes;
  stats.bytes_to_disk = now.written_bytes - spill_at_start_.written_bytes;
  stats.bytes_from_disk = now.read_bytes - spill_at_start_.read_bytes;
  stats.disk_write_seconds = now.write_seconds - spill_at_start_.write_seconds;
  stats.disk_read_seconds = now.read_seconds - spill_at_start_.read_seconds;
  stats.disk_wait_seconds = books.moved(lock).waited_seconds() - waited_at_start_;
  const tier::SpillStats& start = spill_at_start_;
  stats.disk_write_errors = now.failed_writes - start.failed_writes;
  stats.disk_read_errors =
      now.failed_reads - start.failed_reads + now.pieces_read_again - start.pieces_read_again;
  stats.disk_io = spill_file_->io_name();
}

void Impl::warn_of_failing_disk() {
  if (!spill_file_ || has_warned_of_disk_) return;
  run::Books::Lock lock(runtime().books());
  if (!runtime().books().moved(lock).has_given_up()) return;
  has_warned_of_disk_ = true;
  warn("the disk of the spill folder fails, so nothing more is written there: " +
       options_.spill_dir);
}

void Impl::add_guidance(SessionStats& stats) {
  if (!guidance_) return;
  const run::GuideCounters& now = runtime().guide().counters();
  stats.guided_steps = now.steps - guide_at_start_.steps;
  stats.guidance_broken_off = now.broken_off - guide_at_start_.broken_off;
  stats.prefetches = now.prefetches - guide_at_start_.prefetches;
  stats.actions_skipped = now.skipped - guide_at_start_.skipped;
  stats.plans = guidance_->plans();
  stats.plans_dropped = guidance_->plans_dropped();
  stats.stall_seconds = guidance_->stall_seconds();
  stats.fetches_hurried = guidance_->fetches_hurried();
  const PlanResult& plan = guidance_->last_plan();
  stats.plan_seconds = plan.plan_seconds;
  stats.predicted_step_seconds = plan.predicted_seconds;
  if (plan.guided) stats.predicted_peak_bytes = plan.predicted_peak_bytes + plan.outside_bytes;
  stats.no_plan_reason = plan.reason;
}

std::string Impl::run_record(const std::string& title) {
  report::RunRecord record;
  record.title = title;
  record.device = managed_.device.name();
  record.budget_bytes = options_.budget.empty() ? 0 : budget_bytes_;
  record.batch = options_.batch;
  record.allowed = allowed_by(options_.means);
  record.statistics = statistics_json(stats());
  if (const PlanResult* result = guidance_ ? guidance_->plan_in_use() : nullptr) {
    record.policy = result->guided->plan().policy;
    record.plan = result->guided->plan();
    record.trace = result->guided->captured().trace;
    record.machine = result->problem.machine;
    record.outside_bytes = result->outside_bytes;
  } else {
    record.policy = record.budget_bytes > 0 ? "online" : "";
    record.trace =
        std::make_shared<const Trace>(captured(trace::is_name(title) ? title : "captured"));
    record.machine = machine_around(*record.trace, managed_.device, guidance_options());
    record.outside_bytes = outside_bytes(managed_, *record.trace);
    if (record.budget_bytes > 0) record.online = user_capture_.deeds();
  }
  record.machine.name = machine_name(record.machine.name);
  return report::print_run_record(record);
}

void Impl::capture_next() {
  come_back();
  captures_next_ = true;
}

void Impl::begin_step() {
  is_captured_for_user_ = captures_next_;
  if (captures_next_) runtime().start_capture();
  captures_next_ = false;
  if (guidance_ && !is_captured_for_user_ && !is_aside_) guidance_->begin_step();
}

void Impl::end_step() {
  runtime().end_step();
  if (is_captured_for_user_) {
    runtime().stop_capture();
    user_capture_ = runtime().last_capture();
  }
  warn_of_failing_disk();
  if (is_aside_) ++steps_aside_;
  const StepUse use = use_since_last_step();
  if (guidance_ && !is_captured_for_user_ && !is_aside_) guidance_->end_step(use);
  is_captured_for_user_ = false;
  const bool may_step_aside = attendance_.may_step_aside_after(use) && options_.step_aside &&
                              !rules_.evict_everything && !captures_next_;
  if (may_step_aside && !is_aside_) step_aside();
  if (!may_step_aside) come_back();
}

// The step's graph is gone; so may be its records. What ended the step matters more than a failure
// to tidy up.
void Impl::abandon_step() {
  run::forget_failed_backward();
  try {
    end_step();
  } catch (const Error&) {
  }
}

// Starts to count anew.
StepUse Impl::use_since_last_step() {
  engine::Ledger& ledger = managed_.device.ledger();
  run::Books& books = managed_.runtime.books();
  const run::Books::Lock lock(books);
  const std::int64_t held = ledger.held_bytes();
  const std::int64_t evictions = books.counters.drops + books.counters.moves;
  const std::int64_t overflow = ledger.overflowed_bytes();
  const StepUse use = {.budget_bytes = budget_bytes_,
                       .peak_bytes = ledger.step_peak_bytes(),
                       .growth_bytes = held - held_before_,
                       .evictions = evictions - evictions_before_,
                       .overflow_bytes = overflow - overflow_before_};
  held_before_ = held;
  evictions_before_ = evictions;
  overflow_before_ = overflow;
  ledger.start_step();
  return use;
}

void Impl::step_aside() {
  if (!runtime().step_aside()) return;
  is_aside_ = true;
  run::set_thread_managed(false);
}

void Impl::come_back() {
  if (!is_aside_) return;
  is_aside_ = false;
  runtime().come_back();
  run::set_thread_managed(true);
}

void Impl::reset_peaks() {
  managed_.device.ledger().reset_peak();
  managed_.device.reset_reserved_peak();
}

}  // namespace session

Session::Session(SessionOptions options) : impl_(std::make_unique<session::Impl>(options)) {}
Session::~Session() = default;

void Session::step(const std::function<void()>& body) {
  impl_->begin_step();
  try {
    body();
  } catch (...) {
    impl_->abandon_step();
    throw;
  }
  impl_->end_step();
}

void Session::abandon_step() {
  impl_->abandon_step();
  impl_->begin_step();
}

void Session::end_step() {
  impl_->end_step();
  impl_->begin_step();
}

void Session::capture_next_step() { impl_->capture_next(); }

Trace Session::captured(const std::string& name) const { return impl_->captured(name); }
std::string Session::run_record(const std::string& title) const { return impl_->run_record(title); }
void Session::hold(const at::Tensor& tensor) { impl_->runtime().hold(tensor); }
void Session::release(const at::Tensor& tensor) { impl_->runtime().release(tensor); }
void Session::begin_opaque() { impl_->runtime().begin_opaque(); }
void Session::end_opaque() { impl_->runtime().end_opaque(); }
void Session::name(const at::Tensor& tensor, const std::string& name, const std::string& layer) {
  impl_->runtime().label(tensor, {name, layer});
}
SessionStats Session::stats() const { return impl_->stats(); }
void Session::reset_peaks() { impl_->reset_peaks(); }

Session::ThreadGuard::ThreadGuard(Session&) : was_managed_(run::is_thread_managed()) {
  run::set_thread_managed(true);
}
Session::ThreadGuard::~ThreadGuard() { run::set_thread_managed(was_managed_); }

}  // namespace lowtide
