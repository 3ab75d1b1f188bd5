// Evaluates a plan in one segment and collects its live matches. There are two exhaustive paths, whose scores
// are equal bit for bit:
// - a pure disjunction of terms is scored term at a time in windows of kWindowDocs slots;
// - any other plan is evaluated document at a time by iterators (doc_iterator.h).
#pragma once

#include <cstdint>

#include "base/stop_signal.h"
#include "query/filter/segment_refinement.h"
#include "query/page/top_k.h"
#include "query/plan/resolved_query.h"

namespace mds {

// `index`: index of the segment in the query. Returns early when `stop` is set.
void search_segment(const ResolvedQuery& query, uint32_t index, const SegmentRefinement& refinement, TopK& top, StopSignal& stop);

}  // namespace mds
