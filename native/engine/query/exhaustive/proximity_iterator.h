// PROXIMITY: documents in which, within one scored field, the first and the last of the terms occur within
// `distance` positions of each other, in either order, and the others occur between them or at the same
// positions. See doc_iterator.h.
#pragma once

#include "base/stop_signal.h"
#include "query/exhaustive/doc_iterator.h"
#include "query/plan/resolved_query.h"

namespace mds {

// Score, for the narrowest such span over the scored fields: max(0.1, (distance + 1 - span) / (distance +
// 1)). The span is the difference of the two positions. Equal first and last terms require two occurrences.
[[nodiscard]] DocIteratorPtr make_proximity_iterator(const ResolvedQuery& query, const ResolvedSegment& segment, const PlanNode& node, StopSignal& stop);

}  // namespace mds
