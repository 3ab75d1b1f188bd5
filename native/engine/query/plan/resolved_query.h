// A plan resolved against one snapshot: the postings of each query term in each segment, and the statistics
// over all segments. Built once per search.
#pragma once

#include <cstdint>
#include <vector>

#include "query/plan/scoring.h"
#include "query/plan/search_plan.h"
#include "segment/segment_set.h"

namespace mds {

// One segment that contains documents of the collection.
struct ResolvedSegment {
  const SegmentRef* ref;
  const CollectionEntry* collection;
  std::vector<const SectionEntry*> fields;  // per scored field; null if the segment does not have it
  std::vector<TermEntry> terms;             // [term * fields + field], df 0 if the term does not occur
};

class ValueOrderCache;

struct ResolvedQuery {
  const SearchPlan* plan;
  ValueOrderCache* orders = nullptr;  // null: no cache
  std::vector<ResolvedSegment> segments;
  uint64_t documents = 0;  // N, includes dead documents
  uint64_t liveDocuments = 0;
  std::vector<double> averageLengths;  // per scored field, at least 1
  std::vector<double> idfs;            // per term

  // Null if the term does not occur.
  [[nodiscard]] const TermEntry* term_at(const ResolvedSegment& segment, uint32_t term, size_t field) const noexcept {
    const TermEntry& entry = segment.terms[size_t{term} * plan->fields.size() + field];
    return entry.df == 0 ? nullptr : &entry;
  }
};

// Borrows all arguments.
[[nodiscard]] ResolvedQuery resolve_query(const SegmentSet& set, const SearchPlan& plan, ValueOrderCache* orders = nullptr);

}  // namespace mds
