// Runs one plan on one snapshot and encodes the hits record (docs/formats/search-plan.md). Runs on the
// caller's thread. `orders` caches value orders for ranges across searches; null: no cache.
#pragma once

#include <cstdint>
#include <vector>

#include "base/status.h"
#include "base/stop_signal.h"
#include "query/filter/value_order.h"
#include "query/plan/search_plan.h"
#include "segment/segment_set.h"

namespace mds {

[[nodiscard]] std::vector<uint8_t> run_search(const SegmentSet& set, const SearchPlan& plan, StopSignal stop, ValueOrderCache* orders = nullptr);

}  // namespace mds
