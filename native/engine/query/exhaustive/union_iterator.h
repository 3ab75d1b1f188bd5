// A disjunction of many TERMs as one iterator. See doc_iterator.h. A heap of cursors would move some of them
// for every document. This class scores windows of slots instead (scored_window.h). In a conjunction with a
// rarer term it reads only the windows in which that term occurs. Used by one search on one thread.
#pragma once

#include <span>

#include "base/stop_signal.h"
#include "query/exhaustive/doc_iterator.h"
#include "query/plan/resolved_query.h"

namespace mds {

// Iterates over the TERMs among `nodes`, scored in their order.
[[nodiscard]] DocIteratorPtr make_union_iterator(const ResolvedQuery& query, const ResolvedSegment& segment, std::span<const PlanNode> nodes, StopSignal& stop);

}  // namespace mds
