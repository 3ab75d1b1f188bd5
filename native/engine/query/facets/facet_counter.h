// Counts the values of one metadata key over the segments of a snapshot and keeps the best of them. Merges
// the segments' ordered dictionaries. Memory does not grow with the number of values. Used by one aggregation
// on one thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/stop_signal.h"
#include "query/filter/filter_bits.h"

namespace mds {

// The documents of one segment that are counted; without bits, all of them.
struct CountedSegment {
  ResolvedSegment segment;
  std::optional<SlotBits> documents;
};

struct CountedValue {
  std::string value;
  uint64_t count;
};

struct FacetCounts {
  // Sorted by count descending, then by value in UTF-16 order; or by value only.
  std::vector<CountedValue> values;
  uint64_t distinct = 0;  // number of values that occur
};

// Ends early when `stop` is set, or when there are more than `distinctMax` values.
[[nodiscard]] FacetCounts count_values(const std::vector<CountedSegment>& segments, std::string_view key, bool byValue, uint32_t most, uint64_t distinctMax,
                                       StopSignal& stop);

}  // namespace mds
