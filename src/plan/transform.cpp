// SPDX-FileCopyrightText: 2026 The Lowtide Authors
// SPDX-License-Identifier: MIT
#include "plan/transform.h"

#include <memory>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "base/check.h"

namespace lowtide::plan {

Transformed rewrite(const Problem& problem, std::shared_ptr<const Trace> new_trace,
                    std::vector<OpId> op_from) {
  const Trace& old = *problem.trace;
  LT_REQUIRE(op_from.size() == new_trace->ops().size(), "the map names ", op_from.size(), " of ",
             new_trace->ops().size(), " ops of the rewritten trace");
  for (std::size_t i = 0; i < op_from.size(); ++i) {
    LT_REQUIRE(!op_from[i].valid() || op_from[i] < old.end(), "the map says that ",
               new_trace->op_name(make_id<OpId>(i)), " comes from op ", op_from[i].index,
               ", which the trace does not have");
  }
  std::unordered_map<std::string_view, StorageId> names;
  for (std::size_t i = 0; i < old.storages().size(); ++i) {
    names.emplace(old.storages()[i].name, make_id<StorageId>(i));
  }
  Transformed result{problem, std::move(op_from), {}};
  for (const Storage& storage : new_trace->storages()) {
    const auto found = names.find(storage.name);
    result.storage_from.push_back(found == names.end() ? StorageId{} : found->second);
  }
  result.problem.trace = std::move(new_trace);
  return result;
}

}  // namespace lowtide::plan
