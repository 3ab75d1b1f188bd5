// Evaluates a pure disjunction of terms, window by window: scores all its lists in the window
// (scored_window.h), then collects the window's live matches.
#pragma once

#include <cstdint>

#include "base/stop_signal.h"
#include "query/exhaustive/doc_iterator.h"
#include "query/exhaustive/scored_window.h"
#include "query/filter/segment_refinement.h"
#include "query/page/top_k.h"

namespace mds {

class WindowDisjunction {
 public:
  // The plan's root must be a TERM or an OR of TERMs.
  WindowDisjunction(const ResolvedQuery& query, const ResolvedSegment& segment);

  // `filter`: matches must also be in the filter; null: no filter.
  void run(DocIteratorPtr filter, uint32_t segmentIndex, const SegmentRefinement& refinement, TopK& top, StopSignal& stop);

 private:
  void keep_filtered(DocIterator& filter, uint32_t begin);
  void collect(uint32_t begin, uint32_t segmentIndex, const SegmentRefinement& refinement, TopK& top);

  const ResolvedSegment& segment_;
  ScoredWindow window_;
};

}  // namespace mds
