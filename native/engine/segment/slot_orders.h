// The permutations of a segment's slots that sorted pages walk: by addedAt, updatedAt and key, with ties by
// key, lang and docid. Made once, when a segment is written, on the writer's thread. Columns:
// docs/formats/segment.md.
#pragma once

#include <cstdint>
#include <vector>

#include "segment/segment.h"

namespace mds {

// Initial orders: all slots, collection by collection; an invalid one is ignored. The work grows with the
// number of ascending runs, so that a merge, which passes the orders of its sources one after the other, pays
// for a k-way merge and not for a sort.
struct OrderSeeds {
  std::vector<uint32_t> byAddedAt;
  std::vector<uint32_t> byUpdatedAt;
  std::vector<uint32_t> byKey;
};

// Fills byAddedAt, byUpdatedAt, byKey and keyRanks. Requires that all documents have been added.
void write_slot_orders(SegmentColumns& columns, OrderSeeds seeds);

}  // namespace mds
