// Block-max search of one segment: finds the documents that can be among the best and scores only them.
// Windows of slots (window_grid.h) are taken in the order of their upper bound, until the best bound left is
// below the worst score kept. Inside a window
//   - with required terms or a rare filter, the rarest of them proposes candidates (block-max AND);
//   - else the terms whose bounds together cannot reach the threshold propose none (MaxScore), and are looked
//     up only for the candidates of the others.
// Candidates are compared by float estimates with some slack. A candidate that passes is scored exactly like
// in the exhaustive scorer (segment_search.h), to the bit, so that docids, order and scores are the same.
// With boosts the windows are passed through once for each set of documents of about the same factor
// (segment_boosts.h); the bounds and thresholds of a pass are those of its highest factor. Runs on the
// caller's thread. Sources: Turtle & Flood, "Query Evaluation: Strategies and Optimizations", 1995
// (MaxScore); Ding & Suel, "Faster Top-k Document Retrieval Using Block-Max Indexes", SIGIR 2011; Mallia,
// Siedlaczek & Suel, "Fast Disjunctive Candidate Generation Using Live Block Filtering", WSDM 2021 (bounds of
// ranges of documents).
#pragma once

#include <cstdint>

#include "base/stop_signal.h"
#include "query/filter/segment_refinement.h"
#include "query/page/top_k.h"
#include "query/plan/resolved_query.h"
#include "query/pruned/pruned_plan.h"

namespace mds {

// `index`: of the segment in the query. False, with nothing done, when the weights and boosts of this plan
// are outside the range of float estimates. Returns early when `stop` is set.
[[nodiscard]] bool search_segment_pruned(const ResolvedQuery& query, const PrunedPlan& plan, uint32_t index, const SegmentRefinement& refinement, TopK& top,
                                         StopSignal& stop);

}  // namespace mds
