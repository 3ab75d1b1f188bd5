// Why a document has its score: the contribution of each leaf of the plan. Reads one document's postings;
// runs only on request, not for every hit. Runs on the caller's thread.
#pragma once

#include <cstdint>
#include <string>

#include "base/stop_signal.h"
#include "query/plan/search_plan.h"
#include "segment/segment_set.h"

namespace mds {

// JSON: {"score", "factor", "parts": [{"terms", "field", "tf", "idf", "score"}]}, null where the document
// does not exist, the plan's tree does not match it, or `stop` is set; filters are ignored. A part is the
// contribution of one term in one field; with bm25f the term's score is split by the fields' shares of its
// tf~. For a phrase or a proximity it is the contribution over all fields (field "", tf 0, the sum of the
// idfs). The score is the sum of the parts times the factor of the plan's boosts, except for rounding.
// `terms`: as in the index.
[[nodiscard]] std::string explanation_json(const SegmentSet& set, const SearchPlan& plan, uint32_t docid, StopSignal stop);

}  // namespace mds
