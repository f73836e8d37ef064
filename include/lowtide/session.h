// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>

#include "lowtide/errors.h"
#include "lowtide/trace.h"

// Training inside a memory budget, for users of libtorch:
//
//   lowtide::Session session({.budget = "8GiB"});
//   for (...) session.step([&] { optimizer.zero_grad(); loss(...).backward(); optimizer.step(); });
//
// Results are bit for bit those of the same program without a session.

namespace at {
class Tensor;
}

namespace lowtide {

namespace session {
class Impl;
}

/// What may be done with a value when memory runs short.
enum class Means : std::uint8_t {
  /// Drop it, and compute it again when it is needed.
  kRecompute,
  /// Move it to host memory, from there to disk if a folder is named, and back.
  kHost,
  /// Whichever of the two is cheaper for the value.
  kMixed,
};

/// What torch's allocator takes from a GPU comes in pieces of 2 and 20 MiB, so smaller budgets than
/// this cannot cap it; see SessionOptions::cap_reserved.
inline constexpr std::int64_t kLeastReservedBudgetBytes = std::int64_t{200} << 20;

struct SessionOptions {
  /// "8GiB", "1.5GiB", "600MB": the cap on what torch's allocator holds on the device. Empty: no
  /// cap; the session only watches.
  std::string budget{};
  /// "cpu", "cuda", "cuda:1". Empty: the first GPU, or the CPU where there is none.
  std::string device{};
  Means means = Means::kMixed;
  /// How steps that do not fit are planned: "auto" (by "tide"), a policy of the catalogue
  /// (lowtide/policy.h), such as "capuchin", or "online" (no plans: a rule decides whenever memory
  /// runs short). Plans are made from the second step on, beside the training, once for each shape
  /// of step. Until there is one, and wherever a step leaves its plan, the online rule decides.
  std::string policy = "auto";
  /// Options of that policy. In a session "tide" has last_resort=no unless this says otherwise:
  /// where nothing but copies that show would fit, the step is left to the online rule.
  std::map<std::string, std::string> policy_options{};
  /// Training waits for each plan, so that a run can be repeated exactly.
  bool wait_for_plans = false;
  /// Cap on the host memory that moved values take, as a size. Empty: half of the machine's memory.
  std::string host_cap{};
  /// A folder on a fast disk, for what does not fit into host memory either: a file there, without
  /// a name and readable only by us, takes the moved values that were used longest ago. It is gone
  /// with the session, however the process ends. Host memory must have room for the largest value
  /// and is the file's cache. Empty: none.
  std::string spill_dir{};
  /// Cap on that file, as a size. Empty: three quarters of what is free on the disk.
  std::string spill_cap{};
  /// The file is read and written by io_uring where the kernel allows it. Off: by threads.
  bool spill_uring = true;
  /// Smaller storages are never evicted.
  std::int64_t floor_bytes = std::int64_t{64} << 10;
  /// While the steps fit, their ops are not watched, so that they cost nothing; only the budget is.
  /// Off: every op of every step is watched.
  bool step_aside = true;
  /// Evicts everything that an op used as soon as the op is done: slow, for tests.
  bool evict_everything = false;
  /// On a GPU: the budget also caps what torch's allocator takes from the device; budgets below
  /// kLeastReservedBudgetBytes want this off. Off: only what it hands out.
  bool cap_reserved = true;
  /// On a GPU: lets torch's allocator grow its segments, so that it reserves hardly more than it
  /// hands out.
  bool expandable_segments = true;
  /// On a GPU, where the budget also caps what is taken from the device: blocks of more than 1 MiB
  /// lie in pages of Lowtide's own, which are put together anew when free memory is in pieces. Off:
  /// torch's allocator has them, and waits for the device to empty its cache whenever that happens.
  bool own_pages = true;
  /// Examples a step, for reports: how many of them would fit. 0: not known. Nothing else depends
  /// on it.
  std::int64_t batch = 0;
};

/// What a session did since it began; bytes are those of its device.
struct SessionStats {
  std::int64_t budget_bytes = 0;
  std::int64_t held_bytes = 0;
  std::int64_t peak_bytes = 0;
  /// What torch's allocator took from the device; 0 on the CPU.
  std::int64_t reserved_peak_bytes = 0;
  /// How often free memory of the device that was in pieces was put together anew.
  std::int64_t stitches = 0;
  /// Blocks that were moved on the device so that what is free lies in one piece.
  std::int64_t relocations = 0;
  /// How often the device found no room although the budget left some, so that more was evicted.
  std::int64_t shortages = 0;
  std::int64_t host_bytes = 0;
  std::int64_t host_peak_bytes = 0;
  std::int64_t steps = 0;
  /// Those of them whose ops were not watched.
  std::int64_t steps_aside = 0;
  /// What did not fit in such steps, and was put in host memory for the device to use in place.
  std::int64_t overflow_bytes = 0;
  /// Watched ops.
  std::int64_t ops = 0;
  std::int64_t evictions = 0;
  std::int64_t drops = 0;
  std::int64_t moves = 0;
  std::int64_t recomputes = 0;
  double recompute_seconds = 0;
  std::int64_t bytes_to_host = 0;
  std::int64_t bytes_from_host = 0;
  /// The spill file: what lies there now and lay there at most, what was written and read, and the
  /// time in which something was being written or read; 0 without one.
  std::int64_t spill_bytes = 0;
  std::int64_t spill_peak_bytes = 0;
  std::int64_t bytes_to_disk = 0;
  std::int64_t bytes_from_disk = 0;
  double disk_write_seconds = 0;
  double disk_read_seconds = 0;
  /// How long the training waited for the disk.
  double disk_wait_seconds = 0;
  /// Writes that failed, after which the value stayed in host memory; reads that failed or did not
  /// give what was written, and values that were recomputed because of that.
  std::int64_t disk_write_errors = 0;
  std::int64_t disk_read_errors = 0;
  std::int64_t disk_values_recomputed = 0;
  /// "io_uring" or "threads"; empty without a file.
  std::string disk_io{};
  /// Ops that are remembered so that they can be carried out again, and the bytes of storages that
  /// only live for that.
  std::int64_t records = 0;
  std::int64_t record_held_bytes = 0;
  /// Values that were kept because they cannot be made again safely.
  std::int64_t kept_unsafe = 0;
  /// Multi-tensor ops that were carried out in parts.
  std::int64_t chunked_ops = 0;
  /// Steps that were begun under a plan, and those of them that left it before their end.
  std::int64_t guided_steps = 0;
  std::int64_t guidance_broken_off = 0;
  /// Values that a plan brought back from the host ahead of their use, and actions of plans that
  /// could not be carried out when they were due.
  std::int64_t prefetches = 0;
  std::int64_t actions_skipped = 0;
  std::int64_t plans = 0;
  /// Plans that proved slower than the online rule.
  std::int64_t plans_dropped = 0;
  /// How long the device stood still for values that a plan had fetched, in the last step in which
  /// that was measured; and fetches that plans start earlier because they came late.
  double stall_seconds = 0;
  std::int64_t fetches_hurried = 0;
  /// How long the last plan took to make, and what the simulator says of it; 0 without one.
  double plan_seconds = 0;
  double predicted_step_seconds = 0;
  /// With what lies on the device beside what the step uses.
  std::int64_t predicted_peak_bytes = 0;
  /// Why the last plan that was asked for could not be made; empty if it was.
  std::string no_plan_reason{};
};

/// A budget over one device, from construction to destruction. Sessions nest; the innermost counts,
/// also when one around it ends first. The thread that makes a session is managed, and so are
/// autograd's threads that work for it; other threads use a ThreadGuard. A session is used by the
/// thread that made it.
class Session {
 public:
  /// Throws InvalidInput for options that make no sense (a spill folder that is not there or cannot
  /// be written, say), DeviceError if the device is not there, IoError if the disk of the spill
  /// folder does not work.
  explicit Session(SessionOptions options);
  /// Brings everything back. Warns on stderr if that is not possible.
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Runs one training step. Throws OutOfMemory if the budget cannot be kept, with what it must be
  /// at least (OutOfMemory::smallest_budget_bytes()), as far as the step has come; IoError if a
  /// value cannot be read from the spill folder and not be recomputed either; whatever `body`
  /// throws passes through, and the session stays usable.
  void step(const std::function<void()>& body);
  /// Tells where a step ends, for loops that do not call step().
  void end_step();
  /// The same after an exception in such a loop.
  void abandon_step();

  /// Brings the tensor's storage to the device and keeps it there, so that its data_ptr() may be
  /// used, until release() was called as often.
  void hold(const at::Tensor& tensor);
  void release(const at::Tensor& tensor);

  /// Around code that uses tensors without torch's dispatcher, such as compiled graphs: what was
  /// held before and what ops use or make from begin to end stays where it is. From any thread, and
  /// such parts may overlap.
  void begin_opaque();
  void end_opaque();

  /// What captured steps call the tensor's storage, and the part of the model that it belongs to,
  /// such as "layer1.0.conv1"; ops that take it count for that part. The storage keeps it as long
  /// as the session lasts. Nothing else depends on it.
  void name(const at::Tensor& tensor, const std::string& name, const std::string& layer);

  SessionStats stats() const;
  /// Starts to count the peaks anew.
  void reset_peaks();

  /// The next step() is written down, with times.
  void capture_next_step();
  /// The step that was captured last. Throws InvalidInput if there is none.
  Trace captured(const std::string& name = "captured") const;
  /// What the session did so far with a step of this shape, as JSON text for `lowtide report`: the
  /// step that its last plan was made for with that plan, else the one that was captured last; the
  /// machine; the statistics. Throws InvalidInput if there is neither.
  std::string run_record(const std::string& title) const;

  /// Makes the ops of another thread managed while it lives. It must not outlive the session.
  class ThreadGuard {
   public:
    explicit ThreadGuard(Session& session);
    ~ThreadGuard();
    ThreadGuard(const ThreadGuard&) = delete;
    ThreadGuard& operator=(const ThreadGuard&) = delete;

   private:
    bool was_managed_;
  };

 private:
  std::unique_ptr<session::Impl> impl_;
};

}  // namespace lowtide
