// The total order of hits: primary value, then key ascending, then lang ascending (bytes), then docid. A
// total order guarantees that pages never overlap and that two runs return the same result. When sorted by
// key descending, only the key is reversed. Used by one search on one thread.
#pragma once

#include <cstdint>

#include "query/plan/resolved_query.h"

namespace mds {

struct Candidate {
  int64_t primary;  // smaller sorts first
  double score;
  uint32_t segment;  // index in ResolvedQuery::segments
  uint32_t slot;
};

class PageOrder {
 public:
  explicit PageOrder(const ResolvedQuery& query) noexcept : query_(query) {}

  [[nodiscard]] Candidate candidate(uint32_t segment, uint32_t slot, double score) const noexcept { return {primary_of(segment, slot, score), score, segment, slot}; }
  [[nodiscard]] bool better(const Candidate& a, const Candidate& b) const noexcept;

 private:
  [[nodiscard]] int64_t primary_of(uint32_t segment, uint32_t slot, double score) const noexcept;
  [[nodiscard]] const Segment& segment_of(const Candidate& candidate) const noexcept { return *query_.segments[candidate.segment].ref->segment; }

  const ResolvedQuery& query_;
};

}  // namespace mds
