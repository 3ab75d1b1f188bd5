// A PHRASE: documents in which its terms occur at the given distances within one scored field. See
// doc_iterator.h.
#pragma once

#include "base/stop_signal.h"
#include "query/exhaustive/doc_iterator.h"
#include "query/plan/resolved_query.h"

namespace mds {

// Only the differences between offsets count: a phrase may begin at the first token of a document whatever
// its smallest offset is.
// Score: the number of occurrences over all scored fields, or the plan's formula applied to that number, with
// the sum of the terms' idfs and weight 1.
[[nodiscard]] DocIteratorPtr make_phrase_iterator(const ResolvedQuery& query, const ResolvedSegment& segment, const PlanNode& node, StopSignal& stop);

}  // namespace mds
