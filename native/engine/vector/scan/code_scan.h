// Reads the eight-bit codes of all slots and keeps the slots that may be among the best. Exact: a slot is
// dropped only when its upper bound is below the lower bounds of k documents, so none of the k best documents
// is missed; the remaining slots are scored by their f32 vectors. Used by one search.
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

// Adds to `best` the documents of the slots of the range that pass, with their scores. Incomplete once `stop`
// is set.
void scan_exactly(const SetView& view, const SlotFilter& filter, SlotRange range, const VectorQuery& query, size_t most, BestDocuments& best, StopSignal& stop);

// The same for all slots, on at most `threads` threads: pieces differ, documents and scores are the same.
void scan_exactly_shared(const SetView& view, const SlotFilter& filter, const VectorQuery& query, size_t most, BestDocuments& best, StopSignal& stop,
                         ScanHelpers& helpers, uint32_t threads);

// The `most` documents that are best by their codes alone, into `found`, unordered: the cheaper scan for
// kinds that may err.
void scan_codes(const SetView& view, const SlotFilter& filter, SlotRange range, const VectorQuery& query, size_t most, std::vector<uint32_t>& found, StopSignal& stop);

}  // namespace mds
