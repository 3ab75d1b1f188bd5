// The documents of one segment that lie within all ranges of a plan. Times come from their columns and orders; of a metadata key with few values each is looked at, of
// one with many the ordered numbers are searched (value_order.h). Used by one search on one thread; valid while the snapshot is referenced.
#pragma once

#include <optional>

#include "base/stop_signal.h"
#include "query/filter/filter_bits.h"
#include "query/plan/resolved_query.h"

namespace mds {

struct RangedSlots {
  bool isNothing = false;        // no document lies within them
  std::optional<SlotBits> bits;  // dead documents included; without: every document does
};

// Incomplete once `stop` is set.
[[nodiscard]] RangedSlots ranged_slots(const ResolvedQuery& query, const ResolvedSegment& segment, StopSignal& stop);

}  // namespace mds
