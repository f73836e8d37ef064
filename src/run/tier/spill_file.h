// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "run/tier/block_io.h"
#include "run/tier/extents.h"
#include "run/tier/spill_folder.h"
#include "run/tier/transfer_meter.h"

namespace lowtide::tier {

struct SpillOptions {
  std::string folder;
  std::int64_t cap_bytes = 0;
  bool may_use_uring = true;
  // Bytes that are written, read and checked together. Requires: whole blocks.
  std::int64_t piece_bytes = std::int64_t{4} << 20;
  int depth = 8;
  // What reads and writes go through; for tests.
  WrapIo wrap_io = nullptr;
};

struct SpillStats {
  std::int64_t held_bytes = 0;
  std::int64_t peak_bytes = 0;
  std::int64_t written_bytes = 0;
  std::int64_t read_bytes = 0;
  // In which something was being written, or read.
  double write_seconds = 0;
  double read_seconds = 0;
  // Transfers that failed for good; pieces that were read again, because of an error or because
  // they were not what was written.
  std::int64_t failed_writes = 0;
  std::int64_t failed_reads = 0;
  std::int64_t pieces_read_again = 0;
};

// The bytes of one value in a SpillFile. Any thread may ask how far it is.
class Spilled {
 public:
  // Cancels what is under way and waits for it.
  ~Spilled();
  Spilled(const Spilled&) = delete;
  Spilled& operator=(const Spilled&) = delete;

  // Whether a write or read of it is under way: then the memory that it goes from or to must stay.
  bool is_busy() const;
  // Until it is not busy.
  void wait() const;
  // Why the last write or read failed; empty: it did not. Requires: not busy.
  std::string failure() const;
  // What was not begun yet is left out; if that is anything, the write or read has failed.
  void cancel();

 private:
  friend class SpillFile;
  // What is written, read and checked together.
  struct Piece {
    std::int64_t offset = 0;
    std::int64_t bytes = 0;
    // Where in the value it begins.
    std::int64_t position = 0;
    std::uint64_t checksum = 0;
  };
  Spilled(std::shared_ptr<Extents> space, std::int64_t bytes, std::uint64_t generation);

  const std::shared_ptr<Extents> space_;
  const std::int64_t bytes_;
  // Tells what was written from what lay there before.
  const std::uint64_t generation_;
  std::vector<Extent> extents_;
  // Only the thread of the file looks at the checksums.
  std::vector<Piece> pieces_;

  mutable std::mutex mutex_;
  mutable std::condition_variable is_idle_;
  // The members below are guarded by mutex_.
  std::size_t pieces_left_ = 0;
  bool is_cancelled_ = false;
  std::string failure_;
};
using SpilledP = std::shared_ptr<Spilled>;

// Values on disk: one nameless file, whose blocks are handed out under a cap. Everything is written
// and read beside what the caller does, in pieces of some MiB, by one thread that keeps several
// pieces under way. Any thread may call it.
//
// Every piece has a checksum of its bytes, its place and its generation, which is looked at
// whenever it is read: bits that flipped, blocks that were swapped and blocks that are not the ones
// written last are all found out. The checksums are in memory: the file dies with the process, so
// nobody will ever have to read it without them, and on disk they could be stale together with
// their block.
class SpillFile {
 public:
  // Throws InvalidInput if the folder cannot be used.
  explicit SpillFile(const SpillOptions& options);
  // Requires: nothing of it is busy, or the memory of what is stays until this returns.
  ~SpillFile();
  SpillFile(const SpillFile&) = delete;
  SpillFile& operator=(const SpillFile&) = delete;

  // Begins to write. Null when the cap does not allow it. Requires: `data` is at a multiple of
  // Extents::kBlockBytes, is readable up to the next multiple after its end, and does not change
  // while it is busy.
  SpilledP store(const void* data, std::int64_t bytes);
  // Begins to read. Requires: stored and not busy; `data` as for store(), and writable.
  void load(const SpilledP& spilled, void* data);

  // Writes a little and reads it again, to see that it works and how fast it is. Throws IoError.
  void try_out();

  SpillStats stats() const;
  std::int64_t cap_bytes() const { return space_->cap_bytes(); }
  std::int64_t free_bytes() const { return cap_bytes() - space_->held_bytes(); }
  // By what was written and read so far.
  double write_bytes_per_second() const { return writes_.bytes_per_second(); }
  double read_bytes_per_second() const { return reads_.bytes_per_second(); }
  // "io_uring" or "threads".
  std::string io_name() const { return io_->name(); }
  bool is_direct() const { return file_.is_direct(); }

 private:
  using Kind = IoRequest::Kind;
  // One piece that is to be written or read, or is.
  struct Task {
    // Does not go while it is busy.
    Spilled* spilled = nullptr;
    std::size_t piece = 0;
    Kind kind = Kind::kRead;
    std::byte* data = nullptr;
    // Of whole blocks: a piece may be written or read in several goes.
    std::int64_t done_bytes = 0;
    int tries = 0;
  };

  void enqueue(Spilled& spilled, Kind kind, std::byte* data);
  // The thread's.
  void work();
  bool take_task(Task& task);
  void begin(Task task);
  void submit(std::uint64_t tag);
  void on_result(const IoResult& result);
  // Whether the task is to be gone on with.
  bool advance(Task& task, std::int64_t result, std::string& failure);
  bool has_right_bytes(const Task& task) const;
  bool may_try_again(Task& task);
  void end(Task& task, const std::string& failure);

  const SpillOptions options_;
  OpenFile file_;
  const std::shared_ptr<Extents> space_;
  std::unique_ptr<BlockIo> io_;
  std::atomic<std::uint64_t> generations_{0};
  TransferMeter writes_;
  TransferMeter reads_;
  std::atomic<std::int64_t> failed_writes_{0};
  std::atomic<std::int64_t> failed_reads_{0};
  std::atomic<std::int64_t> pieces_read_again_{0};

  std::mutex mutex_;
  std::condition_variable has_task_;
  // The members below are guarded by mutex_. Someone waits for what is read; so it comes first.
  std::deque<Task> to_read_;
  std::deque<Task> to_write_;
  bool is_over_ = false;

  // The thread's alone: what is under way, by tag.
  std::unordered_map<std::uint64_t, Task> under_way_;
  std::uint64_t next_tag_ = 0;
  std::thread thread_;
};

}  // namespace lowtide::tier
