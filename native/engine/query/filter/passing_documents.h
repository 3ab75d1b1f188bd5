// The documents of a collection that pass the metadata filters and ranges of a plan, for searches that do not
// use the segments. Runs on the caller's thread.
#pragma once

#include <cstdint>
#include <vector>

#include "base/stop_signal.h"
#include "query/filter/value_order.h"
#include "query/plan/search_plan.h"
#include "segment/segment_set.h"

namespace mds {

// Returns docids, each once, in no particular order. The rest of the plan is ignored. The result is
// incomplete once `stop` is set.
[[nodiscard]] std::vector<uint32_t> passing_documents(const SegmentSet& set, const SearchPlan& plan, ValueOrderCache* orders, StopSignal& stop);

}  // namespace mds
