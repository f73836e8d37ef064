// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "support/small_steps.h"

#include <functional>

#include "support/small_net.h"

namespace lowtide::support {
namespace {

// The previous layer and, now and then, one further back.
std::vector<SmallLayer> layers_with(int count, const std::function<SmallLayer(int)>& layer) {
  std::vector<SmallLayer> layers;
  for (int i = 0; i < count; ++i) {
    layers.push_back(layer(i));
    layers.back().inputs.insert(layers.back().inputs.begin(), i - 1);
  }
  return layers;
}

std::vector<SmallLayer> chain(int count) {
  return layers_with(count, [](int i) { return SmallLayer{.bytes = 40 + 8 * (i % 3)}; });
}

std::vector<SmallLayer> residual() {
  return layers_with(18, [](int i) {
    SmallLayer layer{.bytes = 48};
    if (i % 3 == 2 && i > 2) layer.inputs.push_back(i - 3);
    return layer;
  });
}

// Six layers down, each half as large, and six up, each of which also reads its counterpart.
std::vector<SmallLayer> u_shape() {
  return layers_with(12, [](int i) {
    const int level = i < 6 ? i : 11 - i;
    SmallLayer layer{.bytes = 256 >> level};
    if (i > 6) layer.inputs.push_back(11 - i);
    return layer;
  });
}

std::vector<SmallLayer> alternating(int count, SmallLayer::Kind kind) {
  return layers_with(count, [kind](int i) {
    return SmallLayer{.bytes = 32 + 4 * (i % 5),
                      .kind = i % 2 == 1 ? kind : SmallLayer::Kind::kLinear};
  });
}

constexpr const char* kMultiOutput = R"(lowtide-trace 1
name multi_output
storage x 24 input start
storage q 24 activation
storage k 24 activation
storage v 24 activation
storage s 48 activation
storage stats 4 activation
storage o 24 activation
storage y 24 activation
storage gy 24 temporary
storage gs 48 temporary
storage gq 24 temporary
storage gk 24 temporary
storage gv 24 temporary
storage gx 24 gradient end
op split forward device=3 : x -> q k v
op scores forward device=4 workspace=8 : q k -> s stats
op mix forward device=4 : s v -> o
op out forward device=2 : o -> y
op loss_backward backward device=1 : y -> gy
op mix_backward backward device=6 : gy s v -> gs gv
op scores_backward backward device=6 workspace=16 : gs s stats q k -> gq gk
op split_backward backward device=3 : gq gk gv -> gx
)";

// Buffers that outlive their last use, a view that keeps one alive, and what nobody reads.
constexpr const char* kLateFrees = R"(lowtide-trace 1
name late_frees
storage x 16 input start
storage unused 12 input start
storage a 20 activation
storage b 30 activation codec=half:15:1:1
storage c 20 activation
storage d 10 activation
storage log 8 temporary
storage out 4 temporary end
op f forward device=2 : x -> a log
op g forward device=2 : a -> b
op h forward device=3 : b -> c
op look forward device=0 : -> | a
op i forward device=1 : c -> d free a
op j backward device=2 : d b -> out
op k backward device=1 : c -> free b x
op l other device=1 : -> free c unused log
)";

constexpr const char* kPinned = R"(lowtide-trace 1
name pinned
storage arena 20 workspace start end pinned
storage x 10 input start pinned
storage w 8 parameter start end pinned
storage v 8 parameter start end
storage a 24 activation
storage b 24 activation pinned
storage c 24 activation
storage gb 24 temporary
storage gw 8 gradient
op f forward device=2 : x w -> a
op g forward device=2 : a -> b
op h forward device=3 : b v -> c
op hb backward device=3 : c v b -> gb
op fb backward device=4 : gb a x w -> gw
op step optimizer device=1 once : gw w -> w
)";

// The same parameter at every step of a recurrence, and its gradient added up in place.
std::string shared_parameter() {
  std::string text =
      "lowtide-trace 1\nname shared_parameter\nstorage w 32 parameter start end\n"
      "storage h0 12 input start\nstorage gw 32 gradient\nstorage g 12 temporary\n";
  constexpr int kSteps = 12;
  for (int i = 1; i <= kSteps; ++i) {
    text += "storage h" + std::to_string(i) + " 12 activation\n";
  }
  for (int i = 1; i <= kSteps; ++i) {
    text += "op cell forward device=2 : h" + std::to_string(i - 1) + " w -> h" + std::to_string(i) +
            "\n";
  }
  text += "op loss other device=1 : h" + std::to_string(kSteps) + " -> g\nop zero other : -> gw\n";
  for (int i = kSteps; i >= 1; --i) {
    text += "op cell_backward backward device=4 : g gw w h" + std::to_string(i - 1) + " h" +
            std::to_string(i) + " -> g gw\n";
  }
  return text + "op step optimizer device=1 once : gw w -> w\n";
}

// Blocks of convolution, normalisation and activation, with algorithms to choose from: quicker ones
// than the traced and leaner ones.
std::string convolutions() {
  constexpr int kBlocks = 5;
  std::string storages = "storage x 24 input start\n";
  std::string forward;
  std::string backward;
  for (int i = 0; i < kBlocks; ++i) {
    const std::string n = std::to_string(i);
    const std::string input = i == 0 ? "x" : "c" + std::to_string(i - 1);
    storages += "storage w" + n + " 4 parameter start end\nstorage a" + n + " 24 activation\n" +
                "storage b" + n + " 24 temporary\nstorage c" + n + " 24 activation\nstorage g" + n +
                " 24 temporary\n";
    forward +=
        "op conv2d forward device=6 workspace=8 option=quick:4:24 option=lean:9:0 : " + input +
        " w" + n + " -> a" + n + "\nop batch_norm forward device=1 : a" + n + " -> b" + n +
        "\nop relu forward device=1 : b" + n + " -> c" + n + " free b" + n + "\n";
    backward = "op relu_backward backward device=1 : c" + n + " g" + n + " -> g" + n +
               "\nop batch_norm_backward backward device=2 : a" + n + " g" + n + " -> g" + n +
               "\nop conv2d_backward backward device=12 workspace=8 option=lean:18:0 : " + input +
               " w" + n + " g" + n + " -> " + (i == 0 ? "" : "g" + std::to_string(i - 1)) + "\n" +
               backward;
  }
  const std::string last = std::to_string(kBlocks - 1);
  return "lowtide-trace 1\nname convolutions\n" + storages + forward +
         "op loss forward device=1 : c" + last + " -> g" + last + "\n" + backward;
}

}  // namespace

const std::vector<std::pair<std::string, std::string>>& small_steps() {
  using Kind = SmallLayer::Kind;
  static const std::vector<std::pair<std::string, std::string>> kSteps{
      {"chain", small_net("chain", chain(16), {})},
      {"long_chain", small_net("long_chain", chain(60), {})},
      {"residual", small_net("residual", residual(), {})},
      {"u_shape", small_net("u_shape", u_shape(), {})},
      {"in_place", small_net("in_place", alternating(14, Kind::kInPlace), {})},
      {"batch_norm", small_net("batch_norm", alternating(14, Kind::kBatchNorm), {})},
      {"dropout", small_net("dropout", alternating(14, Kind::kDropout), {})},
      {"once", small_net("once", alternating(14, Kind::kOnce), {})},
      {"adam", small_net("adam", chain(10), {.states = 2})},
      {"forward_only", small_net("forward_only", residual(), {.has_backward = false})},
      {"shared_parameter", shared_parameter()},
      {"convolutions", convolutions()},
      {"multi_output", kMultiOutput},
      {"late_frees", kLateFrees},
      {"pinned", kPinned},
      {"one_op", "lowtide-trace 1\nname one_op\nstorage a 5 temporary end\nop f forward : -> a\n"},
      {"no_ops", "lowtide-trace 1\nname no_ops\nstorage w 5 parameter start end\n"},
  };
  return kSteps;
}

}  // namespace lowtide::support
