// Reads the eight-bit codes of slots one by one and keeps those that may be among the best. Exact: nothing that belongs among the k best documents is left out, because a
// slot is given up only when its upper bound lies below the lower bounds of k documents; what is left is scored by its f32 vector. Used by one search.
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

// Adds to `best` the documents of the slots of the range that pass, with their scores. Incomplete once `stop` is set.
void scan_exactly(const SetView& view, const SlotFilter& filter, SlotRange range, const VectorQuery& query, size_t most, BestDocuments& best, StopSignal& stop);

// The same of all slots, on at most `threads` threads: other pieces, the same documents and scores.
void scan_exactly_shared(const SetView& view, const SlotFilter& filter, const VectorQuery& query, size_t most, BestDocuments& best, StopSignal& stop,
                         ScanHelpers& helpers, uint32_t threads);

// The `most` documents that are best by their codes alone, into `found`, unordered: the cheaper scan of kinds that may err.
void scan_codes(const SetView& view, const SlotFilter& filter, SlotRange range, const VectorQuery& query, size_t most, std::vector<uint32_t>& found, StopSignal& stop);

}  // namespace mds
