// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
//
// Values that are moved about on the device.
#include <gtest/gtest.h>

#include "lowtide/session.h"
#include "session/devices.h"
#include "torch/compare.h"
#include "torch/device.h"

namespace lowtide::torch_test {
namespace {

std::string why_skip_here() {
  if (!why_skip().empty() || test_device().is_cpu()) return why_skip();
  return "blocks in pages cannot be given away one by one";
}

// Moves all blocks that may be moved to memory of their own.
class Elsewhere final : public engine::MovableBlocks {
 public:
  Elsewhere(session::ManagedDevice& managed, std::vector<void*> blocks)
      : managed_(managed), blocks_(std::move(blocks)) {}

  std::vector<engine::BlockMove> choose(const std::function<bool(void*)>& may_move) override {
    std::vector<engine::BlockMove> moves;
    for (void* from : blocks_) {
      if (may_move(from)) moves.push_back({from, places_.at(from)});
    }
    return moves;
  }
  void settle(const engine::BlockMove& move, bool is_done) override {
    EXPECT_TRUE(is_done);
    // As native does it: the ledger does not know of the memory any more.
    managed_.device.gate_deleter()(move.from);
    ++moved;
    places_.erase(move.from);
  }
  // Where the block of so many bytes is to go.
  void add_place(void* from, std::int64_t bytes) {
    c10::DataPtr place =
        c10::GetAllocator(test_device().type())->allocate(static_cast<std::size_t>(bytes));
    void* to = place.release_context();
    managed_.device.ledger().remove_block(to);
    places_[from] = to;
  }
  // Gives back what was not needed.
  void finish() {
    for (const auto& [from, to] : places_) managed_.device.gate_deleter()(to);
  }

  int moved = 0;

 private:
  session::ManagedDevice& managed_;
  std::vector<void*> blocks_;
  std::map<void*, void*> places_;
};

using Blocks = std::vector<std::pair<void*, std::int64_t>>;

// With these, which the books do not tell of.
int move_everything(session::ManagedDevice& managed, Blocks blocks = {}) {
  run::Books& books = managed.runtime.books();
  {
    run::Books::Lock lock(books);
    for (const run::Cell* cell : books.cells(lock)) {
      if (cell->value->is_resident() && cell->data != nullptr) {
        blocks.emplace_back(cell->data, cell->value->bytes);
      }
    }
  }
  std::vector<void*> all;
  for (const auto& [data, bytes] : blocks) all.push_back(data);
  Elsewhere elsewhere(managed, std::move(all));
  for (const auto& [data, bytes] : blocks) elsewhere.add_place(data, bytes);
  books.move_together(elsewhere);
  elsewhere.finish();
  return elsewhere.moved;
}

TEST(Relocation, ATrainingDoesNotNoticeThatItsTensorsWereMoved) {
  LT_SKIP_IF(why_skip_here());
  for (const char* name : {"convolution_unet", "attention_fused_dropout"}) {
    constexpr int kSteps = 5;
    const Program& chosen = program(name);
    const Reference& wanted = reference(chosen, kSteps);
    const SessionOptions options = options_for(wanted.budget(60));
    session::ManagedDevice& managed = session::device_named(options.device, {});
    Session session(options);
    const auto training = chosen.make(test_device(), kSeed);
    for (int i = 0; i < kSteps; ++i) {
      session.step([&] { training->step(i); });
      EXPECT_GT(move_everything(managed), 3);
      EXPECT_EQ(first_difference(wanted.run.states[static_cast<std::size_t>(i)],
                                 take_state(*training, test_device(), through(session))),
                std::nullopt)
          << name << ", step " << i;
    }
    EXPECT_GT(session.stats().relocations, 3 * kSteps);
    EXPECT_GT(session.stats().evictions, 0);
    EXPECT_LE(session.stats().peak_bytes, session.stats().budget_bytes);
  }
}

// After the write the two have nothing in common, but the old block once was the other's.
TEST(Relocation, ACopyOnWriteKeepsBothApart) {
  LT_SKIP_IF(why_skip_here());
  const SessionOptions options = options_for(1 << 20);
  session::ManagedDevice& managed = session::device_named(options.device, {});
  Session session(options);
  const at::Tensor first = at::ones({1000}, test_device()) + 1;
  const at::Tensor second = at::_lazy_clone(first);
  first.add_(1);
  for (int i = 0; i < 3; ++i) {
    move_everything(managed, {{const_cast<void*>(second.const_data_ptr()), 4000}});
    EXPECT_EQ(first.sum().item<float>(), 3000);
    EXPECT_EQ(second.sum().item<float>(), 2000);
  }
}

TEST(Relocation, WhatIsHeldStaysWhereItIs) {
  LT_SKIP_IF(why_skip_here());
  const SessionOptions options = options_for(1 << 20);
  session::ManagedDevice& managed = session::device_named(options.device, {});
  Session session(options);
  const at::Tensor held = at::ones({1000}, test_device());
  const at::Tensor other = at::full({1000}, 2, test_device());
  const at::Tensor view = other.narrow(0, 500, 100);
  session.hold(held);
  const void* before = held.data_ptr();
  EXPECT_EQ(move_everything(managed), 1);
  EXPECT_EQ(held.data_ptr(), before);
  EXPECT_EQ(view.sum().item<float>(), 200);
}

// Blocks of a page and a half, of which every second one goes: what is free is enough, but in
// pieces. A row of it is made by moving some of the others, in the step and, where steps are alike,
// by laying all of them out.
TEST(Relocation, APagedDeviceMovesBlocksToMakeRoom) {
  LT_SKIP_IF(why_skip());
  if (test_device().is_cpu()) GTEST_SKIP() << "only a GPU has pages";
  constexpr std::int64_t kMiB = std::int64_t{1} << 20;
  constexpr int kBlocks = 64;
  SessionOptions options = options_for(256 * kMiB);
  options.cap_reserved = true;
  options.step_aside = false;
  Session session(options);
  std::vector<at::Tensor> from_last_step;
  for (int step = 0; step < 12; ++step) {
    std::vector<at::Tensor> kept;
    session.step([&] {
      const auto filled = [&](std::int64_t mib, int value) {
        return at::full({mib * kMiB}, value, at::TensorOptions(test_device()).dtype(at::kByte));
      };
      std::vector<at::Tensor> passing;
      for (int i = 0; i < kBlocks; ++i) {
        (i % 2 == 0 ? kept : passing).push_back(filled(3, i));
        if (i % 8 == 0 && !from_last_step.empty()) from_last_step.pop_back();
      }
      from_last_step.clear();
      passing.clear();
      const at::Tensor large = filled(80, 200);
      EXPECT_EQ(large[-1].item<int>(), 200);
    });
    for (std::size_t i = 0; i < kept.size(); ++i) {
      EXPECT_TRUE(kept[i].eq(static_cast<int>(2 * i)).all().item<bool>()) << step << ' ' << i;
    }
    from_last_step.assign(kept.begin(), kept.begin() + 8);
  }
  const SessionStats stats = session.stats();
  EXPECT_GT(stats.relocations, 0) << "stitches " << stats.stitches << ", shortages "
                                  << stats.shortages << ", evictions " << stats.evictions
                                  << ", peak " << stats.peak_bytes;
  EXPECT_LE(stats.peak_bytes, stats.budget_bytes);
}

}  // namespace
}  // namespace lowtide::torch_test
