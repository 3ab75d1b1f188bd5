// One snapshot: the segments that a search reads, with their live bits. Immutable. Shared by all searches
// that started while it was current.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "segment/live_docs.h"
#include "segment/segment.h"

namespace mds {

struct SegmentRef {
  std::shared_ptr<const Segment> segment;
  std::shared_ptr<const LiveDocs> live;  // null: all alive
  // Lower bound of the LSNs of the segment's entries; set only for segments in memory.
  uint64_t lsnFirst = 0;

  [[nodiscard]] bool alive(uint32_t slot) const noexcept { return live == nullptr || live->alive(slot); }
  [[nodiscard]] uint32_t live_count() const noexcept { return live == nullptr ? segment->slot_count() : live->live_count(); }
  [[nodiscard]] uint32_t live_in(const CollectionEntry& collection) const noexcept {
    return live == nullptr ? collection.slotEnd - collection.slotBegin : live->live_in(collection.slotBegin, collection.slotEnd);
  }
};

struct SegmentSet {
  std::vector<SegmentRef> segments;
  uint64_t lsnLast = 0;
};

}  // namespace mds
