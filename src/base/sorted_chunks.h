// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

namespace lowtide::base {

// A sorted set of small keys in short arrays: what std::set is for, but a search touches a few
// lines of the cache and not one a level, and most inserts allocate nothing. Needs operator<.
// A search takes O(log n); an insert or erase also moves up to kFull keys and, once in kFull / 2
// inserts, an entry for each array.
template <class Key>
class SortedChunks {
 public:
  class Iterator {
   public:
    Iterator(const SortedChunks& set, std::size_t chunk, std::size_t index)
        : set_(&set), chunk_(chunk), index_(index) {}
    const Key& operator*() const { return set_->chunks_[chunk_][index_]; }
    const Key* operator->() const { return &**this; }
    Iterator& operator++() {
      if (++index_ == set_->chunks_[chunk_].size()) {
        ++chunk_;
        index_ = 0;
      }
      return *this;
    }
    friend bool operator==(const Iterator&, const Iterator&) = default;

   private:
    friend class SortedChunks;
    const SortedChunks* set_;
    std::size_t chunk_;
    std::size_t index_;
  };

  bool empty() const { return chunks_.empty(); }
  Iterator begin() const { return {*this, 0, 0}; }
  Iterator end() const { return {*this, chunks_.size(), 0}; }

  // The first key that is not less.
  Iterator lower_bound(const Key& key) const {
    const std::size_t chunk = chunk_for(key);
    return {*this, chunk, chunk == chunks_.size() ? 0 : index_in(chunks_[chunk], key)};
  }

  // Requires: the key is not there.
  void insert(const Key& key) {
    if (chunks_.empty()) return add_chunk(0, {key});
    // What is larger than everything goes to the last chunk.
    const std::size_t number = std::min(chunk_for(key), chunks_.size() - 1);
    Chunk& chunk = chunks_[number];
    const std::size_t index = index_in(chunk, key);
    chunk.insert(at(chunk, index), key);
    largest_[number] = chunk.back();
    if (chunk.size() == kFull) split(number);
  }

  // Requires: the key is there.
  void erase(const Key& key) { erase(lower_bound(key)); }
  void erase(const Iterator& position) {
    const std::size_t number = position.chunk_;
    Chunk& chunk = chunks_[number];
    chunk.erase(at(chunk, position.index_));
    if (!chunk.empty()) {
      largest_[number] = chunk.back();
      return;
    }
    chunks_.erase(at(chunks_, number));
    largest_.erase(at(largest_, number));
  }

 private:
  using Chunk = std::vector<Key>;
  static constexpr std::size_t kFull = 64;

  template <class List>
  static auto at(List& list, std::size_t index) {
    return list.begin() + static_cast<std::ptrdiff_t>(index);
  }
  static std::size_t index_in(const std::vector<Key>& keys, const Key& key) {
    return static_cast<std::size_t>(std::lower_bound(keys.begin(), keys.end(), key) - keys.begin());
  }
  std::size_t chunk_for(const Key& key) const { return index_in(largest_, key); }

  void add_chunk(std::size_t number, Chunk chunk) {
    largest_.insert(at(largest_, number), chunk.back());
    chunk.reserve(kFull);
    chunks_.insert(at(chunks_, number), std::move(chunk));
  }

  void split(std::size_t number) {
    Chunk& chunk = chunks_[number];
    Chunk upper(at(chunk, kFull / 2), chunk.end());
    chunk.resize(kFull / 2);
    largest_[number] = chunk.back();
    add_chunk(number + 1, std::move(upper));
  }

  // None is empty, and every key of one is less than those of the next.
  std::vector<Chunk> chunks_;
  // The last key of each.
  std::vector<Key> largest_;
};

}  // namespace lowtide::base
