// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "run/engine/host_memory.h"
#include "run/tier/spill_file.h"

namespace lowtide::engine {

// The bytes of one value outside of the device: in host memory, in a file, in both, or nowhere. A
// HostCache looks after it; free it there before it goes.
class HostCopy {
 public:
  bool is_empty() const { return state_ == State::kNowhere; }
  // And nowhere else.
  bool is_in_file() const { return state_ == State::kFile; }
  std::int64_t bytes() const { return bytes_; }

 private:
  friend class HostCache;
  enum class State : std::uint8_t { kNowhere, kMemory, kWriting, kBoth, kFile, kReading };

  State state_ = State::kNowhere;
  // The value is on the device too.
  bool is_spare_ = false;
  bool goes_to_file_ = false;
  std::int64_t bytes_ = 0;
  void* host_ = nullptr;
  // Outlives the session that opened it if a value lies there.
  std::shared_ptr<tier::SpillFile> file_;
  tier::SpilledP spilled_;
  // Why it could not be read when that was tried last.
  std::string failure_;
  // Grows with its last use.
  std::uint64_t used_ = 0;
  // The same, before it was read from the file; 0 if nobody wants to know any more.
  std::uint64_t used_before_ = 0;
  // It was read because it seemed to be next.
  bool is_ahead_ = false;
  std::list<HostCopy*>::iterator busy_;
};

// Where moved values lie. New ones come to host memory; when that runs short, the ones that were
// used longest ago are written to the spill file, if there is one, and their memory is taken. In
// training that is what backward needs last. Writing begins when half of the memory is taken, so
// that it is seldom waited for. What is needed from the file comes in the order of its last use, or
// in the opposite one, as in backward: so the next ones are read ahead. Whoever owns it sees to it
// that one thread uses it at a time.
class HostCache {
 public:
  explicit HostCache(HostMemory& memory) : memory_(memory) {}
  ~HostCache();
  HostCache(const HostCache&) = delete;
  HostCache& operator=(const HostCache&) = delete;

  // From here on; null: none. Values in the file of before stay there.
  void set_file(std::shared_ptr<tier::SpillFile> file, std::int64_t host_cap_bytes);

  // Memory for the copy's bytes, which the caller has copied there before the next call. Null when
  // there is none and none can be made. Requires: empty.
  void* allocate(HostCopy& copy, std::int64_t bytes);
  // The memory is the copy's from here on. Requires: empty.
  void adopt(HostCopy& copy, void* host, std::int64_t bytes);
  // It is empty from here on.
  void free(HostCopy& copy);

  // Whether the value is on the device as well: then the copy may be thrown away.
  void set_spare(HostCopy& copy, bool is_spare);
  // It will not be needed soon.
  void send_to_file(HostCopy& copy);
  // Writes what should be on its way.
  void write_behind();

  // Begins to bring it to memory if it lies in the file alone, and if there is memory for it
  // without waiting.
  void start_reading(HostCopy& copy);
  // The same for a copy that is needed now; and what will probably be needed next is read as well.
  void want(HostCopy& copy);
  // Whether its bytes are in memory.
  bool is_at_hand(HostCopy& copy);
  // What to wait for until it is; null: nothing. May be waited for by a thread that does not use
  // the cache.
  tier::SpilledP reading(const HostCopy& copy) const;
  // Its bytes, in memory. Waits for the disk where it has to. Throws IoError if they cannot be
  // read, OutOfMemory if there is no memory for them; then everything is as before.
  void* bytes(HostCopy& copy);

  // What it takes on top of the way between device and memory: from the file for this copy, to the
  // file and back for a new one.
  double read_seconds(const HostCopy& copy) const;
  double spill_seconds(std::int64_t bytes) const;

  // The disk failed so often that nothing is written any more.
  bool has_given_up() const { return failures_ >= kMostFailures; }
  // For the disk, by whoever needed a value or room.
  double waited_seconds() const { return waited_seconds_; }
  void add_waited_seconds(double seconds) { waited_seconds_ += seconds; }

 private:
  using State = HostCopy::State;
  // Copies, those that were used longest ago first.
  struct ByUse {
    std::map<std::uint64_t, HostCopy*> copies;
    std::int64_t bytes = 0;
  };
  // Memory of a copy that was freed while it was being written or read.
  struct Orphan {
    void* host;
    std::shared_ptr<tier::SpillFile> file;
    tier::SpilledP spilled;
  };
  static constexpr int kMostFailures = 4;

  void enter(HostCopy& copy);
  void remove(HostCopy& copy);
  void change(HostCopy& copy, State state);
  void use(HostCopy& copy);
  ByUse* list_of(const HostCopy& copy);

  // What has become of it, if it was being written or read and is no more.
  void settle(HostCopy& copy);
  void settle_all();
  bool free_orphans();
  bool start_writing(HostCopy& copy);
  void start_reading_to(HostCopy& copy, void* host);
  void read_ahead_of(std::uint64_t place);
  void set_ahead(HostCopy& copy, bool is_ahead);
  void free_memory(HostCopy& copy);
  // Takes the memory of one copy that loses nothing by it. False: there is none.
  bool drop_one();
  void* allocate_without_waiting(std::int64_t bytes);
  void* allocate_memory(std::int64_t bytes);
  // Until some memory can be had. False: there is nothing to wait for.
  bool wait_for_room(std::int64_t bytes);
  void wait_for(const tier::Spilled& spilled);
  bool can_write() const { return file_ != nullptr && !has_given_up(); }
  // Whether every copy that lies in a file alone could come to memory.
  bool has_room_to_read() const;

  HostMemory& memory_;
  std::shared_ptr<tier::SpillFile> file_;
  std::int64_t cap_bytes_ = 0;
  std::uint64_t uses_ = 0;
  // Spare ones, in memory alone or in both places; others in memory alone, and in both places.
  ByUse spares_;
  ByUse unwritten_;
  ByUse written_;
  // Of the unwritten ones, those that are to be.
  std::int64_t unwritten_for_file_ = 0;
  // Being written or read, the first ones first.
  std::list<HostCopy*> busy_;
  std::int64_t busy_bytes_ = 0;
  // What lies in a file alone, by last use, and its sizes.
  std::map<std::uint64_t, HostCopy*> in_file_;
  std::multiset<std::int64_t> sizes_in_file_;
  // Where in that order the last one was that was needed.
  std::uint64_t last_wanted_ = 0;
  std::int64_t ahead_bytes_ = 0;
  std::list<Orphan> orphans_;
  // In a row.
  int failures_ = 0;
  double waited_seconds_ = 0;
};

}  // namespace lowtide::engine
