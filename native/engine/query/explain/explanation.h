// Explains a document's score: the contribution of each leaf of the plan. Reads one document's postings. Runs
// only on request, not for every hit. Runs on the caller's thread.
#pragma once

#include <cstdint>
#include <string>

#include "base/stop_signal.h"
#include "query/plan/search_plan.h"
#include "segment/segment_set.h"

namespace mds {

// Returns JSON: {"score", "factor", "parts": [{"terms", "field", "tf", "idf", "score"}]}, or null if the
// document does not exist, the plan's tree does not match it, or `stop` is set. Filters are ignored. A part
// is the contribution of one term in one field. With bm25f the term's score is divided among the fields in
// proportion to their shares of its tf~. For a phrase or a proximity node, a part is the contribution over
// all fields (field "", tf 0, the sum of the idfs). The score is the sum of the parts times the factor of the
// plan's boosts, except for rounding. `terms` are as they are in the index.
[[nodiscard]] std::string explanation_json(const SegmentSet& set, const SearchPlan& plan, uint32_t docid, StopSignal stop);

}  // namespace mds
