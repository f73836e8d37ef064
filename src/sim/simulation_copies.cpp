// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include <algorithm>
#include <span>
#include <utility>

#include "base/check.h"
#include "sim/simulation.h"

// What changes the place or the form of a value.

namespace lowtide::sim {

using OnDevice = Whereabouts::OnDevice;
using Direction = Links::Direction;

namespace {

constexpr TierId kHostTier{0};

}  // namespace

const CodecOption& Simulation::codec_named(ValueId value, std::string_view name) const {
  const Storage& storage = trace_.storage_of(value);
  return storage.codecs[static_cast<std::size_t>(plan::codec_index(storage, name))];
}

void Simulation::begin_or_wait(const Move& action, std::int32_t index) {
  if (outwards_.is_waited_for() || !outwards_.has_room_for(at(action.value).bytes)) {
    outwards_.wait(index);
    return;
  }
  take_action(index);
  move(action);
}

void Simulation::begin_waiting_moves(bool all) {
  while (outwards_.is_waited_for()) {
    const auto& first = std::get<Move>(plan_.actions[static_cast<std::size_t>(outwards_.first())]);
    if (!all && !outwards_.has_room_for(at(first.value).bytes)) return;
    const std::int32_t index = outwards_.take_first();
    // It may have been let go of meanwhile.
    if (!at(first.value).is_raw()) continue;
    take_action(index);
    move(first);
  }
}

bool Simulation::keep_back(ValueId value) {
  const auto& actions = plan_.actions;
  return outwards_.take_if([&](std::int32_t index) {
    return std::get<Move>(actions[static_cast<std::size_t>(index)]).value == value;
  });
}

// A device that copies by itself computes while a disk is read.
bool Simulation::is_copied_on_arrival(const Whereabouts& where) const {
  return where.tier != kHostTier && !machine_.tier(kHostTier).copies_beside_work;
}

void Simulation::give_time_to(Links::CopyId copy, ValueId value) {
  if (machine_.tier(kHostTier).copies_beside_work) return;
  clocks_.stall_until(links_.finish_time(copy), StallCause::kCopy, value);
  catch_up();
}

void Simulation::move(const Move& action) {
  Whereabouts& where = at(action.value);
  require(where.is_raw(), "a move takes", action.value, "is not on the device");
  if (!action.codec.empty()) encode(action.value, codec_named(action.value, action.codec));
  const std::int64_t bytes = tier_bytes(action.value);
  const Piece piece = where.has_codec ? std::exchange(encoded_.at(action.value).piece, Piece{})
                                      : take_raw(action.value);
  const double start = clocks_.issue(machine_.launch_seconds);

  const Links::CopyId out = add_copy(action.value, kHostTier, Direction::kToTier, bytes, start, {});
  notes_.back().frees_device = true;
  memory_.start_leaving(action.value, out, piece);
  outwards_.begin(where.bytes);
  where.on_device = OnDevice::kAbsent;
  where.arrival = out;
  if (action.tier != kHostTier) {
    where.arrival = add_copy(action.value, action.tier, Direction::kToTier, bytes, start, {out});
    stage_until_last_copy_ends(bytes);
  }
  enter_tier(action.value, action.tier);
  give_time_to(out, action.value);
}

void Simulation::begin_or_wait(const Fetch& action, std::int32_t index) {
  // Its bytes never went, and now they stay.
  if (keep_back(action.value)) return;
  if (inwards_.is_waited_for() || !inwards_.has_room_for(at(action.value).bytes)) {
    inwards_.wait(index);
    return;
  }
  take_action(index);
  issue_fetch(action);
}

void Simulation::begin_waiting_fetches() {
  while (inwards_.is_waited_for()) {
    const auto& first = std::get<Fetch>(plan_.actions[static_cast<std::size_t>(inwards_.first())]);
    const Whereabouts& where = at(first.value);
    if (!inwards_.has_room_for(where.bytes)) return;
    const std::int32_t index = inwards_.take_first();
    // It may have been let go of meanwhile.
    if (where.on_device != OnDevice::kAbsent || !where.tier.valid()) continue;
    take_action(index);
    issue_fetch(first);
  }
}

void Simulation::issue_fetch(const Fetch& action) {
  Whereabouts& where = at(action.value);
  require(where.on_device == OnDevice::kAbsent && where.tier.valid(), "a fetch of", action.value,
          "is on the device or in no tier");
  const trace::Lifetimes& ticks = schedule_.lifetimes();
  require(ticks.tick_of(action.issue_before) <= ticks.tick_of(action.needed_by), "a fetch of",
          action.value, "is needed before it is issued");
  const double start = clocks_.issue(machine_.launch_seconds);
  where.on_device = OnDevice::kIncoming;
  inwards_.begin(where.bytes);
  const Links::CopyId room = find_room_for_fetch(action.value);
  const std::int64_t bytes = tier_bytes(action.value);
  Links::CopyId arrival = where.arrival;
  if (where.tier != kHostTier) {
    arrival = add_copy(action.value, where.tier, Direction::kFromTier, bytes, start, {arrival});
  }
  if (is_copied_on_arrival(where)) {
    where.fetch = arrival;
  } else {
    where.fetch =
        add_copy(action.value, kHostTier, Direction::kFromTier, bytes, start, {arrival, room});
    give_time_to(where.fetch, action.value);
  }
  if (where.tier != kHostTier) stage_until_last_copy_ends(bytes);
}

// Takes the bytes, or is promised them: then what is returned must end first.
Links::CopyId Simulation::find_room_for_fetch(ValueId value) {
  const bool has_codec = at(value).has_codec;
  const std::int64_t bytes = raw_bytes(value) + (has_codec ? device_bytes(tier_bytes(value)) : 0);
  const std::size_t moves = memory_.moves_in_the_way(bytes);
  if (moves == 0) {
    allocate_fetched(value);
    return Links::kNone;
  }
  memory_.promise(moves - 1, value, bytes);
  return memory_.leaving(moves - 1).copy;
}

void Simulation::allocate_fetched(ValueId value) {
  allocate_raw(value);
  if (!at(value).has_codec) return;
  Encoded& form = encoded_.at(value);
  form.piece =
      allocate(device_bytes(form.codec->bytes), at(value).kind, trace_.value(value).storage);
}

void Simulation::arrive(ValueId value) {
  Whereabouts& where = at(value);
  clocks_.wait_for(std::exchange(where.fetch, Links::kNone), value);
  if (is_copied_on_arrival(where)) {
    clocks_.settle();
    give_time_to(add_copy(value, kHostTier, Direction::kFromTier, tier_bytes(value),
                          clocks_.issue(machine_.launch_seconds), {}),
                 value);
  }
  inwards_.end(where.bytes);
  where.on_device = OnDevice::kRaw;
}

void Simulation::await_fetch(const Fetch& action, std::int32_t index) {
  Whereabouts& where = at(action.value);
  const bool has_waited =
      inwards_.take_if([index](std::int32_t waiting) { return waiting == index; });
  if (has_waited && where.on_device == OnDevice::kAbsent && where.tier.valid()) {
    take_action(index);
    issue_fetch(action);
  }
  if (where.on_device != OnDevice::kIncoming) return;  // it died on the way
  arrive(action.value);
  leave_tier(action.value);
  if (!where.has_codec) return;
  begin_work(machine_.launch_seconds, 0);
  finish_decoding(action.value);
}

void Simulation::encode(ValueId value, const CodecOption& codec) {
  Whereabouts& where = at(value);
  require(where.is_raw(), "an encode takes", value, "is not on the device");
  const std::int64_t bytes = device_bytes(codec.bytes);
  begin_work(machine_.launch_seconds, bytes);
  encoded_[value] = {&codec, allocate(bytes, where.kind, trace_.value(value).storage)};
  end_work(codec.encode_seconds);
  log_work(Work::Kind::kCodec, op_, codec.encode_seconds);
  timeline_.codec_seconds += codec.encode_seconds;
  free_raw(value);
  where.has_codec = true;
  where.on_device = OnDevice::kEncoded;
}

void Simulation::decode(ValueId value) {
  Whereabouts& where = at(value);
  require(where.on_device == OnDevice::kEncoded, "a decode takes", value, "is not encoded");
  begin_work(machine_.launch_seconds, raw_bytes(value));
  allocate_raw(value);
  finish_decoding(value);
  where.on_device = OnDevice::kRaw;
}

void Simulation::finish_decoding(ValueId value) {
  const double seconds = encoded_.at(value).codec->decode_seconds;
  end_work(seconds);
  log_work(Work::Kind::kCodec, op_, seconds);
  timeline_.codec_seconds += seconds;
  forget_codec(value);
}

void Simulation::forget_codec(ValueId value) {
  if (!at(value).has_codec) return;
  free(encoded_.at(value).piece);
  encoded_.erase(value);
  at(value).has_codec = false;
}

void Simulation::drop(ValueId value) {
  Whereabouts& where = at(value);
  require(where.is_raw() || where.on_device == OnDevice::kEncoded, "a drop takes", value,
          "is not on the device");
  // It may have been waited for just now, and have no bytes before it has come.
  clocks_.settle();
  catch_up();
  free_raw(value);
  forget_codec(value);
  where.on_device = OnDevice::kAbsent;
}

void Simulation::let_go(ValueId value) {
  Whereabouts& where = at(value);
  if (where.on_device == OnDevice::kIncoming) {
    // Its bytes cannot be had before the copy has ended.
    arrive(value);
  }
  // The tier first: it counts the bytes of the form that is there.
  if (where.tier.valid()) leave_tier(value);
  if (where.on_device != OnDevice::kAbsent) drop(value);
  forget_codec(value);
}

// Zero bytes have no block; they need none to be counted.
void Simulation::allocate_raw(ValueId value) {
  at(value).raw = allocate(raw_bytes(value), at(value).kind, trace_.value(value).storage).block;
}

void Simulation::free_raw(ValueId value) {
  Piece piece = take_raw(value);
  free(piece);
}

Piece Simulation::take_raw(ValueId value) {
  Whereabouts& where = at(value);
  if (where.raw == AllocatorModel::kNothing) return {};
  return {raw_bytes(value), where.kind, std::exchange(where.raw, AllocatorModel::kNothing)};
}

void Simulation::enter_tier(ValueId value, TierId tier) {
  at(value).tier = tier;
  change_tier_bytes(tier, tier_bytes(value));
}

std::int64_t Simulation::tier_bytes(ValueId value) const {
  return at(value).has_codec ? encoded_.at(value).codec->bytes : at(value).bytes;
}

void Simulation::leave_tier(ValueId value) {
  Whereabouts& where = at(value);
  change_tier_bytes(where.tier, -tier_bytes(value));
  where.tier = {};
  where.arrival = Links::kNone;
}

void Simulation::change_tier_bytes(TierId tier, std::int64_t bytes) {
  std::int64_t& held = tier_bytes_[tier.slot()];
  held += bytes;
  timeline_.tier_peak_bytes[tier.slot()] = std::max(timeline_.tier_peak_bytes[tier.slot()], held);
}

Links::CopyId Simulation::add_copy(ValueId value, TierId tier, Direction direction,
                                   std::int64_t bytes, double start,
                                   std::initializer_list<Links::CopyId> after) {
  notes_.push_back({.value = value});
  return links_.copy(tier, direction, bytes, start, std::span(after.begin(), after.size()));
}

void Simulation::stage_until_last_copy_ends(std::int64_t bytes) {
  notes_.back().staging_bytes = bytes;
  change_tier_bytes(kHostTier, bytes);
}

}  // namespace lowtide::sim
