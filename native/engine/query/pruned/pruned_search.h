// Block-max search of one segment: finds the documents that can be among the best and scores only those.
// Visits windows of slots (window_grid.h) in descending order of their upper bound, until the best remaining
// bound is below the worst score kept. Inside a window
//  - with required terms or a selective filter, the rarest of them proposes candidates (block-max AND);
//  - otherwise the terms whose bounds together cannot reach the threshold propose none (MaxScore). They are
//    looked up only for the candidates of the others.
// Candidates are compared by float estimates with some slack. A candidate that passes is scored exactly as in
// the exhaustive scorer (segment_search.h), bit for bit, so that docids, order and scores are the same. With
// boosts, the windows are visited once per set of documents of about the same factor (segment_boosts.h). The
// bounds and thresholds of such a pass use its highest factor. Runs on the caller's thread. Sources: Turtle &
// Flood, "Query Evaluation: Strategies and Optimizations", 1995 (MaxScore); Ding & Suel, "Faster Top-k
// Document Retrieval Using Block-Max Indexes", SIGIR 2011; Mallia, Siedlaczek & Suel, "Fast Disjunctive
// Candidate Generation Using Live Block Filtering", WSDM 2021 (bounds of ranges of documents).
#pragma once

#include <cstdint>

#include "base/stop_signal.h"
#include "query/filter/segment_refinement.h"
#include "query/page/top_k.h"
#include "query/plan/resolved_query.h"
#include "query/pruned/pruned_plan.h"

namespace mds {

// `index`: index of the segment in the query. Returns false, without doing anything, if the weights and
// boosts of the plan are outside the range of float estimates, or if the plan has too many lists. Returns
// early when `stop` is set.
[[nodiscard]] bool search_segment_pruned(const ResolvedQuery& query, const PrunedPlan& plan, uint32_t index, const SegmentRefinement& refinement, TopK& top,
                                         StopSignal& stop);

}  // namespace mds
