// PROXIMITY: documents in which, inside one scored field, the first and the last of the terms stand within `distance` positions of each other, whichever comes first, and
// the others between them or at the same places. See doc_iterator.h.
#pragma once

#include "base/stop_signal.h"
#include "query/exhaustive/doc_iterator.h"
#include "query/plan/resolved_query.h"

namespace mds {

// Score: of the narrowest such place over the scored fields, max(0.1, (distance + 1 - span) / (distance + 1)); span is the difference of the two positions. Equal first
// and last terms have to be two occurrences.
[[nodiscard]] DocIteratorPtr make_proximity_iterator(const ResolvedQuery& query, const ResolvedSegment& segment, const PlanNode& node, StopSignal& stop);

}  // namespace mds
