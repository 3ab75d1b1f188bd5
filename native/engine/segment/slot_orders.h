// The permutations of a segment's slots from which sorted pages are read: by addedAt, updatedAt and key, with
// ties by key, lang and docid. Computed once, when a segment is written, on the writer's thread. Columns:
// docs/formats/segment.md.
#pragma once

#include <cstdint>
#include <vector>

#include "segment/segment.h"

namespace mds {

// Initial orders: all slots, collection by collection. An invalid order is ignored. The work grows with the
// number of ascending runs. A merge passes the orders of its sources one after the other, so it pays for a
// k-way merge and not for a sort.
struct OrderSeeds {
  std::vector<uint32_t> byAddedAt;
  std::vector<uint32_t> byUpdatedAt;
  std::vector<uint32_t> byKey;
};

// Fills byAddedAt, byUpdatedAt, byKey and keyRanks. Requires that all documents have been added.
void write_slot_orders(SegmentColumns& columns, OrderSeeds seeds);

}  // namespace mds
