// Merges segments into one that contains only their live documents. Runs on a merge thread (or on a
// publishing thread that also merges), concurrently with readers and writers of the sources.
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <vector>

#include "base/status.h"
#include "segment/segment_set.h"

namespace mds {

struct MergedSegment {
  std::shared_ptr<const Segment> segment;
  // Per source: new slot by old slot; kEndOfList for a document that was dead when the merge began.
  std::vector<std::vector<uint32_t>> slotMaps;
};

// Returns a cancelled status if `stop` becomes true. The order within each source is kept: its slot map is
// ascending.
[[nodiscard]] Result<MergedSegment> merge_segments(std::span<const SegmentRef> sources, uint64_t serial, const std::atomic<bool>& stop);

}  // namespace mds
