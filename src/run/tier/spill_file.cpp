// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "run/tier/spill_file.h"

#include <algorithm>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include "base/check.h"
#include "run/tier/checksum.h"

namespace lowtide::tier {
namespace {

// A disk that goes on giving less than a block at a time, or none, does not work.
constexpr int kMostTries = 4;
constexpr std::int64_t kTrialBytes = std::int64_t{16} << 20;

std::unique_ptr<BlockIo> make_io(int file, const SpillOptions& options) {
  std::unique_ptr<BlockIo> io;
  if (options.may_use_uring) io = make_uring_io(file, options.depth);
  if (!io) io = make_thread_io(file, options.depth);
  return options.wrap_io ? options.wrap_io(std::move(io)) : std::move(io);
}

}  // namespace

Spilled::Spilled(std::shared_ptr<Extents> space, std::int64_t bytes, std::uint64_t generation)
    : space_(std::move(space)), bytes_(bytes), generation_(generation) {}

Spilled::~Spilled() {
  cancel();
  wait();
  space_->free(extents_);
}

bool Spilled::is_busy() const {
  const std::lock_guard lock(mutex_);
  return pieces_left_ > 0;
}

void Spilled::wait() const {
  std::unique_lock lock(mutex_);
  is_idle_.wait(lock, [this] { return pieces_left_ == 0; });
}

std::string Spilled::failure() const {
  const std::lock_guard lock(mutex_);
  return failure_;
}

void Spilled::cancel() {
  const std::lock_guard lock(mutex_);
  is_cancelled_ = true;
}

SpillFile::SpillFile(const SpillOptions& options)
    : options_(options),
      file_(open_nameless_file(options.folder)),
      space_(std::make_shared<Extents>(options.cap_bytes)),
      io_(make_io(file_.descriptor(), options)) {
  LT_CHECK(options.piece_bytes > 0 && options.piece_bytes % Extents::kBlockBytes == 0,
           "pieces must be of whole blocks: ", options.piece_bytes);
  thread_ = std::thread([this] { work(); });
}

SpillFile::~SpillFile() {
  {
    const std::lock_guard lock(mutex_);
    is_over_ = true;
  }
  has_task_.notify_one();
  thread_.join();
}

SpilledP SpillFile::store(const void* data, std::int64_t bytes) {
  std::vector<Extent> extents = space_->allocate(bytes);
  if (extents.empty()) return nullptr;
  SpilledP spilled(new Spilled(space_, bytes, ++generations_));
  spilled->extents_ = std::move(extents);
  std::int64_t position = 0;
  for (const Extent& extent : spilled->extents_) {
    for (std::int64_t done = 0; done < extent.bytes;) {
      const std::int64_t length = std::min(options_.piece_bytes, extent.bytes - done);
      spilled->pieces_.push_back({extent.offset + done, length, position, 0});
      done += length;
      position += length;
    }
  }
  // It is only read.
  enqueue(*spilled, Kind::kWrite, static_cast<std::byte*>(const_cast<void*>(data)));
  return spilled;
}

void SpillFile::load(const SpilledP& spilled, void* data) {
  enqueue(*spilled, Kind::kRead, static_cast<std::byte*>(data));
}

void SpillFile::enqueue(Spilled& spilled, Kind kind, std::byte* data) {
  LT_CHECK(reinterpret_cast<std::uintptr_t>(data) % Extents::kBlockBytes == 0,
           "memory that does not begin with a block: ", static_cast<void*>(data));
  {
    const std::lock_guard lock(spilled.mutex_);
    LT_CHECK(spilled.pieces_left_ == 0, "a value of ", spilled.bytes_, " bytes is busy");
    spilled.pieces_left_ = spilled.pieces_.size();
    spilled.is_cancelled_ = false;
    spilled.failure_.clear();
  }
  {
    const std::lock_guard lock(mutex_);
    std::deque<Task>& queue = kind == Kind::kRead ? to_read_ : to_write_;
    for (std::size_t i = 0; i < spilled.pieces_.size(); ++i) {
      queue.push_back({&spilled, i, kind, data + spilled.pieces_[i].position});
    }
  }
  has_task_.notify_one();
}

void SpillFile::work() {
  for (;;) {
    Task task;
    while (under_way_.size() < static_cast<std::size_t>(io_->depth()) && take_task(task)) {
      begin(std::move(task));
    }
    if (under_way_.empty()) return;
    on_result(io_->wait());
  }
}

// Waits for one if nothing else is to be done. False: there is none, and while nothing is under way
// none will come.
bool SpillFile::take_task(Task& task) {
  std::unique_lock lock(mutex_);
  if (under_way_.empty()) {
    has_task_.wait(lock, [this] { return is_over_ || !to_read_.empty() || !to_write_.empty(); });
  }
  std::deque<Task>& queue = to_read_.empty() ? to_write_ : to_read_;
  if (queue.empty()) return false;
  task = std::move(queue.front());
  queue.pop_front();
  return true;
}

void SpillFile::begin(Task task) {
  Spilled& spilled = *task.spilled;
  bool is_wanted = true;
  {
    const std::lock_guard lock(spilled.mutex_);
    is_wanted = !spilled.is_cancelled_ && spilled.failure_.empty();
  }
  (task.kind == Kind::kWrite ? writes_ : reads_).begin();
  if (!is_wanted) {
    end(task, "it was cancelled");
    return;
  }
  Spilled::Piece& piece = spilled.pieces_[task.piece];
  if (task.kind == Kind::kWrite) {
    piece.checksum = checksum(task.data, piece.bytes, piece.offset, spilled.generation_);
  }
  const std::uint64_t tag = next_tag_++;
  under_way_.emplace(tag, std::move(task));
  submit(tag);
}

void SpillFile::submit(std::uint64_t tag) {
  const Task& task = under_way_.at(tag);
  const Spilled::Piece& piece = task.spilled->pieces_[task.piece];
  io_->submit({task.kind, task.data + task.done_bytes, piece.bytes - task.done_bytes,
               piece.offset + task.done_bytes, tag});
}

void SpillFile::on_result(const IoResult& result) {
  const auto found = under_way_.find(result.tag);
  LT_CHECK(found != under_way_.end(), "nothing with this tag is under way: ", result.tag);
  std::string failure;
  if (advance(found->second, result.result, failure)) {
    submit(result.tag);
    return;
  }
  Task task = std::move(found->second);
  under_way_.erase(found);
  end(task, failure);
}

bool SpillFile::advance(Task& task, std::int64_t result, std::string& failure) {
  const Spilled::Piece& piece = task.spilled->pieces_[task.piece];
  // Some file systems know O_DIRECT, but not with blocks of our size.
  if (result == -EINVAL && file_.stop_direct()) return true;
  if (result < 0) {
    failure = std::strerror(static_cast<int>(-result));
    return may_try_again(task);
  }
  // The next go begins with a whole block.
  const std::int64_t whole = result / Extents::kBlockBytes * Extents::kBlockBytes;
  task.done_bytes += whole;
  if (task.done_bytes < piece.bytes) {
    if (whole > 0 || ++task.tries < kMostTries) return true;
    failure = task.kind == Kind::kWrite ? "nothing was written" : "the file ends too early";
    return false;
  }
  if (task.kind == Kind::kWrite || has_right_bytes(task)) return false;
  failure = "the bytes are not those that were written";
  return may_try_again(task);
}

bool SpillFile::has_right_bytes(const Task& task) const {
  const Spilled::Piece& piece = task.spilled->pieces_[task.piece];
  return piece.checksum ==
         checksum(task.data, piece.bytes, piece.offset, task.spilled->generation_);
}

// What went wrong on the way may go right the next time. What is not written is not lost, so only
// reads are worth it.
bool SpillFile::may_try_again(Task& task) {
  if (task.kind == Kind::kWrite || ++task.tries > 1) return false;
  task.done_bytes = 0;
  ++pieces_read_again_;
  return true;
}

void SpillFile::end(Task& task, const std::string& failure) {
  const bool is_write = task.kind == Kind::kWrite;
  const Spilled::Piece& piece = task.spilled->pieces_[task.piece];
  (is_write ? writes_ : reads_).end(failure.empty() ? piece.bytes : 0);
  Spilled& spilled = *task.spilled;
  const std::lock_guard lock(spilled.mutex_);
  if (!failure.empty() && spilled.failure_.empty()) {
    spilled.failure_ = base::concat(failure, "; ", piece.bytes, " bytes at ", piece.offset);
  }
  if (--spilled.pieces_left_ > 0) return;
  if (!spilled.failure_.empty() && !spilled.is_cancelled_)
    ++(is_write ? failed_writes_ : failed_reads_);
  spilled.is_idle_.notify_all();
}

void SpillFile::try_out() {
  struct Free {
    void operator()(void* memory) const { std::free(memory); }
  };
  const std::int64_t bytes = std::min(kTrialBytes, cap_bytes());
  const auto size = static_cast<std::size_t>(Extents::rounded(bytes));
  const std::unique_ptr<void, Free> memory(std::aligned_alloc(Extents::kBlockBytes, size));
  if (!memory) throw OutOfMemory(base::concat("no memory to try the disk out: ", size, " bytes"));
  std::memset(memory.get(), 1, size);
  const SpilledP spilled = store(memory.get(), bytes);
  if (!spilled) throw IoError("the disk is full before anything was written");
  spilled->wait();
  if (spilled->failure().empty()) {
    load(spilled, memory.get());
    spilled->wait();
  }
  if (spilled->failure().empty()) return;
  throw IoError(base::concat("the spill folder does not work: name another; ", spilled->failure(),
                             ", folder \"", options_.folder, "\""));
}

SpillStats SpillFile::stats() const {
  return {.held_bytes = space_->held_bytes(),
          .peak_bytes = space_->peak_bytes(),
          .written_bytes = writes_.bytes(),
          .read_bytes = reads_.bytes(),
          .write_seconds = writes_.seconds(),
          .read_seconds = reads_.seconds(),
          .failed_writes = failed_writes_,
          .failed_reads = failed_reads_,
          .pieces_read_again = pieces_read_again_};
}

}  // namespace lowtide::tier
