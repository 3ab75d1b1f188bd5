// A plan's ranges and boosts, evaluated for one segment. Built once per search and segment, regardless of the
// path that evaluates the plan.
#pragma once

#include "query/filter/ranged_slots.h"
#include "query/filter/segment_boosts.h"

namespace mds {

struct SegmentRefinement {
  RangedSlots ranged;
  SegmentBoosts boosts;

  SegmentRefinement(const ResolvedQuery& query, const ResolvedSegment& segment, StopSignal& stop)
      : ranged(ranged_slots(query, segment, stop)), boosts(segment, query.plan->boosts, stop) {}

  [[nodiscard]] double boosted(uint32_t slot, double score) const noexcept { return boosts.is_empty() ? score : score * boosts.factor(slot); }
  // Null if every document is within the ranges.
  [[nodiscard]] const SlotBits* ranged_bits() const noexcept { return ranged.bits ? &*ranged.bits : nullptr; }
};

}  // namespace mds
