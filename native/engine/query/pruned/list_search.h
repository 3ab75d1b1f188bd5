// Pruned search for a plan that comes to one posting list in one segment: its blocks in the order of their bounds, until no block left can hold a hit. Runs on the
// caller's thread.
#pragma once

#include <cstdint>

#include "base/stop_signal.h"
#include "query/page/top_k.h"
#include "query/plan/resolved_query.h"

namespace mds {

// `term` has a list in the scored field `field` of segment `index` and in no other. False, and nothing done, when float cannot estimate the weights of the plan.
[[nodiscard]] bool search_list(const ResolvedQuery& query, uint32_t index, uint32_t term, size_t field, TopK& top, StopSignal& stop);

}  // namespace mds
