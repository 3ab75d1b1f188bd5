// A page of a listing: matches by metadata only, in the order of a sort field. A k-way merge of the segments'
// orders that reads little more than the page. The total is counted on bits. The result equals that of the
// exhaustive path (top_k.h); a property test verifies this. Runs on the caller's thread.
#pragma once

#include <cstdint>
#include <vector>

#include "base/stop_signal.h"
#include "query/page/page_order.h"
#include "query/plan/resolved_query.h"

namespace mds {

struct Page {
  uint64_t total;  // number of matches
  std::vector<Candidate> hits;
};

// Whether the plan is a listing: every document, or those that pass the filters, not sorted by score.
[[nodiscard]] bool is_listing(const SearchPlan& plan) noexcept;

[[nodiscard]] Page sorted_page(const ResolvedQuery& query, StopSignal& stop);

}  // namespace mds
