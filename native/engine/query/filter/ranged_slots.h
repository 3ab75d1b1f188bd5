// The documents of one segment that are within all ranges of a plan. Times are read from their columns and
// orders. For a metadata key with few values, each value is tested. For one with many, the ordered values are
// searched (value_order.h). Used by one search on one thread. Valid while the snapshot is referenced.
#pragma once

#include <optional>

#include "base/stop_signal.h"
#include "query/filter/filter_bits.h"
#include "query/plan/resolved_query.h"

namespace mds {

struct RangedSlots {
  bool isNothing = false;        // no document is within the ranges
  std::optional<SlotBits> bits;  // dead documents included; empty: every document is within the ranges
};

// The result is incomplete once `stop` is set.
[[nodiscard]] RangedSlots ranged_slots(const ResolvedQuery& query, const ResolvedSegment& segment, StopSignal& stop);

}  // namespace mds
