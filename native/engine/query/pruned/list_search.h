// Pruned search for a plan that reduces to one posting list in one segment. Visits the list's blocks in
// descending order of their bounds, until no remaining block can contain a hit. Runs on the caller's thread.
#pragma once

#include <cstdint>

#include "base/stop_signal.h"
#include "query/page/top_k.h"
#include "query/plan/resolved_query.h"

namespace mds {

// `term` must have a list in the scored field `field` of segment `index` and in no other field. Returns
// false, without doing anything, if the weights of the plan are outside the range of float estimates.
[[nodiscard]] bool search_list(const ResolvedQuery& query, uint32_t index, uint32_t term, size_t field, TopK& top, StopSignal& stop);

}  // namespace mds
