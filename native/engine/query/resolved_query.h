// A plan looked up in one snapshot: which term of which segment each query term is, and the statistics over all segments. Made once per search.
#pragma once

#include <cstdint>
#include <vector>

#include "index/segment_set.h"
#include "query/scoring.h"
#include "query/search_plan.h"

namespace mds {

inline constexpr uint32_t kNoTerm = UINT32_MAX;

// One segment that holds documents of the collection.
struct ResolvedSegment {
  const SegmentRef* ref;
  const CollectionEntry* collection;
  std::vector<const SectionEntry*> fields;  // per scored field; null where the segment has none of it
  std::vector<uint32_t> terms;              // [term * fields + field], kNoTerm where it does not occur
};

struct ResolvedQuery {
  const SearchPlan* plan;
  std::vector<ResolvedSegment> segments;
  uint64_t documents = 0;  // N, dead ones included
  uint64_t liveDocuments = 0;
  std::vector<double> averageLengths;  // per scored field, at least 1
  std::vector<double> idfs;            // per term

  [[nodiscard]] uint32_t term_at(const ResolvedSegment& segment, uint32_t term, size_t field) const noexcept {
    return segment.terms[size_t{term} * plan->fields.size() + field];
  }
};

// Borrows the plan and the set.
[[nodiscard]] ResolvedQuery resolve_query(const SegmentSet& set, const SearchPlan& plan);

}  // namespace mds
