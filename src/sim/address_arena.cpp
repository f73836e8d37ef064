// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "sim/address_arena.h"

#include <algorithm>
#include <deque>
#include <iterator>
#include <limits>

namespace lowtide::sim {

AddressArena::AddressArena(std::size_t value_count, std::int64_t limit_bytes)
    : offset_of_(value_count, -1) {
  if (limit_bytes > 0) add_free(0, limit_bytes);
}

void AddressArena::add_free(std::int64_t offset, std::int64_t bytes) {
  pieces_[offset] = Piece{.bytes = bytes, .value = {}, .is_free = true};
  free_by_size_.emplace(bytes, offset);
  free_by_offset_.emplace(offset, bytes);
}

void AddressArena::remove_free(Pieces::iterator piece) {
  free_by_size_.erase({piece->second.bytes, piece->first});
  free_by_offset_.erase(piece->first);
}

std::int64_t AddressArena::take(Pieces::iterator piece, std::int64_t bytes, End end,
                                ValueId value) {
  const std::int64_t begin = piece->first;
  const std::int64_t rest = piece->second.bytes - bytes;
  remove_free(piece);
  pieces_.erase(piece);
  const std::int64_t offset = end == End::kLow ? begin : begin + rest;
  if (rest > 0) add_free(end == End::kLow ? begin + bytes : begin, rest);
  pieces_[offset] = Piece{.bytes = bytes, .value = value, .is_free = false};
  return offset;
}

bool AddressArena::place_best(ValueId value, std::int64_t bytes) {
  if (bytes == 0) return true;
  const auto found = free_by_size_.lower_bound({bytes, 0});
  if (found == free_by_size_.end()) return false;
  offset_of_[value.slot()] = take(pieces_.find(found->second), bytes, End::kLow, value);
  return true;
}

bool AddressArena::place_from(End end, ValueId value, std::int64_t bytes) {
  if (bytes == 0) return true;
  const auto is_enough = [&](const auto& row) { return row.second >= bytes; };
  std::optional<std::int64_t> row;
  if (free_by_size_.empty() || free_by_size_.rbegin()->first < bytes) return false;
  if (end == End::kLow) {
    row = std::find_if(free_by_offset_.begin(), free_by_offset_.end(), is_enough)->first;
  } else {
    row = std::find_if(free_by_offset_.rbegin(), free_by_offset_.rend(), is_enough)->first;
  }
  offset_of_[value.slot()] = take(pieces_.find(*row), bytes, end, value);
  return true;
}

bool AddressArena::place_scratch(std::int64_t bytes) {
  if (bytes == 0) return true;
  const auto found = free_by_size_.lower_bound({bytes, 0});
  if (found == free_by_size_.end()) return false;
  scratch_.push_back(take(pieces_.find(found->second), bytes, End::kLow, {}));
  return true;
}

void AddressArena::end_scratch() {
  for (const std::int64_t offset : scratch_) set_free(pieces_.find(offset));
  scratch_.clear();
}

void AddressArena::release(ValueId value) {
  if (!has_address(value)) return;
  set_free(pieces_.find(offset(value)));
  offset_of_[value.slot()] = -1;
}

void AddressArena::set_free(Pieces::iterator piece) {
  std::int64_t begin = piece->first;
  std::int64_t end = begin + piece->second.bytes;
  if (piece != pieces_.begin() && std::prev(piece)->second.is_free) {
    const auto below = std::prev(piece);
    begin = below->first;
    remove_free(below);
    pieces_.erase(below);
  }
  const auto above = std::next(piece);
  if (above != pieces_.end() && above->second.is_free) {
    end += above->second.bytes;
    remove_free(above);
    pieces_.erase(above);
  }
  pieces_.erase(piece);
  add_free(begin, end - begin);
}

void AddressArena::hand_over(ValueId from, ValueId to) {
  if (!has_address(from)) return;
  offset_of_[to.slot()] = offset(from);
  offset_of_[from.slot()] = -1;
  pieces_[offset(to)].value = to;
}

std::int64_t AddressArena::free_beside(ValueId value) const {
  if (!has_address(value)) return 0;
  const auto piece = pieces_.find(offset(value));
  std::int64_t bytes = 0;
  if (piece != pieces_.begin() && std::prev(piece)->second.is_free) {
    bytes += std::prev(piece)->second.bytes;
  }
  const auto above = std::next(piece);
  if (above != pieces_.end() && above->second.is_free) bytes += above->second.bytes;
  return bytes;
}

// The pieces between the two ends that go over the row, and the best row so far. Of all rows with
// the same upper end the shortest is the cheapest, so each upper end is looked at once.
struct AddressArena::Window {
  struct Member {
    ValueId value;
    std::int64_t bytes;
    double price;
  };

  void reset() {
    members.clear();
    bytes = 0;
    price = 0;
  }

  void add(const Member& member, std::int64_t needed_bytes) {
    members.push_back(member);
    bytes += member.bytes;
    price += member.price;
    while (bytes - members.front().bytes >= needed_bytes) {
      bytes -= members.front().bytes;
      price -= members.front().price;
      members.pop_front();
    }
    if (bytes < needed_bytes || price >= best_price) return;
    best_price = price;
    best.clear();
    for (const Member& m : members) {
      if (m.value.valid()) best.push_back(m.value);
    }
  }

  std::deque<Member> members;
  std::int64_t bytes = 0;
  double price = 0;
  double best_price = std::numeric_limits<double>::infinity();
  std::vector<ValueId> best;
};

std::optional<std::vector<ValueId>> AddressArena::cheapest_row(std::int64_t bytes,
                                                               std::size_t max_pieces,
                                                               const Price& price) {
  Window window;
  const bool is_bounded = pieces_.size() > max_pieces;
  auto piece = is_bounded ? pieces_.lower_bound(search_from_) : pieces_.begin();
  const std::size_t steps = std::min(max_pieces, pieces_.size());
  for (std::size_t i = 0; i < steps; ++i, ++piece) {
    if (piece == pieces_.end()) {
      piece = pieces_.begin();
      window.reset();
    }
    const Piece& p = piece->second;
    if (p.is_free) {
      window.add({{}, p.bytes, 0}, bytes);
      continue;
    }
    const std::optional<double> cost = p.value.valid() ? price(p.value) : std::nullopt;
    cost ? window.add({p.value, p.bytes, *cost}, bytes) : window.reset();
  }
  search_from_ = piece == pieces_.end() ? 0 : piece->first;
  if (window.best_price == std::numeric_limits<double>::infinity()) return std::nullopt;
  return std::move(window.best);
}

}  // namespace lowtide::sim
