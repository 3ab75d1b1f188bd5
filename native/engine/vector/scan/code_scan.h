// Reads the eight-bit codes of all slots and keeps the slots that may be among the best. Exact: a slot is
// dropped only if its upper bound is below the lower bounds of k documents, so none of the k best documents
// is missed. The remaining slots are scored by their f32 vectors. Used by one search.
#pragma once

#include <cstdint>

#include "base/stop_signal.h"
#include "vector/codes/vector_query.h"
#include "vector/scan/best_documents.h"
#include "vector/scan/scan_helpers.h"
#include "vector/set/slot_filter.h"

namespace mds {

struct SlotRange {
  uint32_t begin;
  uint32_t end;
};

// Adds to `best` the documents of those slots of the range that pass, with their scores. Incomplete if `stop`
// is set.
void scan_exactly(const SetView& view, const SlotFilter& filter, SlotRange range, const VectorQuery& query, size_t most, BestDocuments& best, StopSignal& stop);

// The same for all slots, on at most `threads` threads. The division of the work differs; the documents and
// scores are the same.
void scan_exactly_shared(const SetView& view, const SlotFilter& filter, const VectorQuery& query, size_t most, BestDocuments& best, StopSignal& stop,
                         ScanHelpers& helpers, uint32_t threads);

// Appends the slots of the `most` documents that are best by their codes alone to `found`, unordered. A
// cheaper scan for approximate kinds.
void scan_codes(const SetView& view, const SlotFilter& filter, SlotRange range, const VectorQuery& query, size_t most, std::vector<uint32_t>& found, StopSignal& stop);

}  // namespace mds
