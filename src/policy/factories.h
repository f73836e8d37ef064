// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#pragma once

#include <memory>

#include "lowtide/policy.h"

// The door of each policy's file; the classes themselves are not visible outside. The catalogue is
// the only caller.

namespace lowtide::policy {

std::unique_ptr<Policy> make_keep_all(const PolicyOptions& options);
std::unique_ptr<Policy> make_evict_all(const PolicyOptions& options);
std::unique_ptr<Policy> make_belady(const PolicyOptions& options);
std::unique_ptr<Policy> make_lru(const PolicyOptions& options);
std::unique_ptr<Policy> make_random(const PolicyOptions& options);
std::unique_ptr<Policy> make_dtr(const PolicyOptions& options);
std::unique_ptr<Policy> make_dtr_megengine(const PolicyOptions& options);
std::unique_ptr<Policy> make_coop(const PolicyOptions& options);
std::unique_ptr<Policy> make_selective(const PolicyOptions& options);
std::unique_ptr<Policy> make_knapsack(const PolicyOptions& options);
std::unique_ptr<Policy> make_best_fit(const PolicyOptions& options);
std::unique_ptr<Policy> make_pushdown(const PolicyOptions& options);
std::unique_ptr<Policy> make_vdnn(const PolicyOptions& options);
std::unique_ptr<Policy> make_vdnn_pp(const PolicyOptions& options);
std::unique_ptr<Policy> make_modnn(const PolicyOptions& options);
std::unique_ptr<Policy> make_zero_offload(const PolicyOptions& options);
std::unique_ptr<Policy> make_flashneuron(const PolicyOptions& options);
std::unique_ptr<Policy> make_sentinel(const PolicyOptions& options);
std::unique_ptr<Policy> make_swapadvisor(const PolicyOptions& options);
std::unique_ptr<Policy> make_sublinear(const PolicyOptions& options);
std::unique_ptr<Policy> make_rotor(const PolicyOptions& options);
std::unique_ptr<Policy> make_checkmate(const PolicyOptions& options);
std::unique_ptr<Policy> make_autotm(const PolicyOptions& options);
std::unique_ptr<Policy> make_pofo(const PolicyOptions& options);
std::unique_ptr<Policy> make_capuchin(const PolicyOptions& options);
std::unique_ptr<Policy> make_superneurons(const PolicyOptions& options);
std::unique_ptr<Policy> make_tide(const PolicyOptions& options);

}  // namespace lowtide::policy
