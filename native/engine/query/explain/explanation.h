// Why a document has its score: what each leaf of the plan that counts gives to it. Reads one document's postings; for a request that asks for it, not for every hit.
// Runs on the caller's thread.
#pragma once

#include <cstdint>
#include <string>

#include "base/stop_signal.h"
#include "query/plan/search_plan.h"
#include "segment/segment_set.h"

namespace mds {

// JSON: {"score", "factor", "parts": [{"terms", "field", "tf", "idf", "score"}]}, null where the document is not there, the plan's tree does not match it, or `stop` is
// set; filters are not looked at. A part is what one term gives in one field, with bm25f the term's score by the fields' shares of its tf~; or what a phrase or a
// proximity gives over all fields (field "", tf 0, the sum of the idfs). The score is the sum of the parts times the factor of the plan's boosts, but for rounding.
// `terms`: as they are in the index.
[[nodiscard]] std::string explanation_json(const SegmentSet& set, const SearchPlan& plan, uint32_t docid, StopSignal stop);

}  // namespace mds
