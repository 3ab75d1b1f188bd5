// See passing_documents.h.
#include "query/filter/passing_documents.h"

#include "query/filter/filter_bits.h"
#include "query/filter/ranged_slots.h"
#include "query/plan/resolved_query.h"

namespace mds {

std::vector<uint32_t> passing_documents(const SegmentSet& set, const SearchPlan& plan, ValueOrderCache* orders, StopSignal& stop) {
  std::vector<uint32_t> documents;
  const ResolvedQuery query = resolve_query(set, plan, orders);
  for (const ResolvedSegment& segment : query.segments) {
    if (stop.poll()) break;
    const RangedSlots ranged = ranged_slots(query, segment, stop);
    if (ranged.isNothing) continue;
    SlotBits bits = filter_bits(segment, plan.filters, stop);
    if (ranged.bits) bits.keep(ranged.bits->words());
    bits.for_each([&](uint32_t slot) { documents.push_back(segment.ref->segment->docid(slot)); });
  }
  return documents;
}

}  // namespace mds
