// Runs one plan on one snapshot and writes the hits record: docs/formats/search-plan.md. Runs on the caller's thread.
#pragma once

#include <cstdint>
#include <vector>

#include "base/status.h"
#include "base/stop_signal.h"
#include "index/segment_set.h"
#include "query/search_plan.h"

namespace mds {

[[nodiscard]] std::vector<uint8_t> run_search(const SegmentSet& set, const SearchPlan& plan, StopSignal stop);

}  // namespace mds
