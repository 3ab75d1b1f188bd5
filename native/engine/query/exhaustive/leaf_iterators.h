// Iterators of the leaves of a plan and of its filters. See doc_iterator.h.
#pragma once

#include <cstdint>

#include "base/stop_signal.h"
#include "query/exhaustive/doc_iterator.h"
#include "query/filter/filter_bits.h"
#include "query/plan/resolved_query.h"

namespace mds {

// A TERM: documents that contain the term in any scored field.
[[nodiscard]] DocIteratorPtr make_term_iterator(const ResolvedQuery& query, const ResolvedSegment& segment, uint32_t term);

// All documents of the collection, at score 0.
[[nodiscard]] DocIteratorPtr make_all_iterator(const CollectionEntry& collection);

// No document.
[[nodiscard]] DocIteratorPtr make_none_iterator();

// Documents that pass one metadata filter, at score 0.
[[nodiscard]] DocIteratorPtr make_filter_iterator(const ResolvedSegment& segment, const MetaFilter& filter, StopSignal& stop);

// Documents whose bits are set, at score 0.
[[nodiscard]] DocIteratorPtr make_bits_iterator(const CollectionEntry& collection, SlotBits bits);

}  // namespace mds
