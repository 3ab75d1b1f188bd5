// See slot_walk.h.
#include "query/listing/slot_walk.h"

#include <algorithm>

namespace mds {

SlotWalk::SlotWalk(const ResolvedSegment& segment, SortField sort, bool descending) noexcept
    : segment_(*segment.ref->segment),
      sort_(sort),
      descending_(descending),
      slotBegin_(segment.collection->slotBegin),
      count_(segment.collection->slotEnd - segment.collection->slotBegin),
      // In ascending order a single group suffices: the permutation stores ties in the right order.
      groupBegin_(descending ? count_ : 0),
      groupEnd_(count_),
      at_(groupBegin_) {
  if (sort == SortField::kAddedAt) order_ = segment_.ordered_slots(SlotOrder::kAddedAt, *segment.collection);
  if (sort == SortField::kUpdatedAt) order_ = segment_.ordered_slots(SlotOrder::kUpdatedAt, *segment.collection);
  if (sort == SortField::kKey) order_ = segment_.ordered_slots(SlotOrder::kKey, *segment.collection);
}

// Returns where the group of the slot before `end` begins. For keys, the rank is the beginning. For times, it
// is searched by doubling steps back, then by bisection: O(log n) for a group of n slots.
uint32_t SlotWalk::group_begin(uint32_t end) const noexcept {
  uint32_t inside = end - 1;
  const int64_t value = value_of(slot_at(inside));
  if (sort_ == SortField::kDocid) return inside;
  if (sort_ == SortField::kKey) return std::min(static_cast<uint32_t>(value), inside);
  uint32_t step = 1;
  while (inside >= step && value_of(slot_at(inside - step)) == value) {
    inside -= step;
    step *= 2;
  }
  uint32_t outside = inside >= step ? inside - step + 1 : 0;  // the group begins at or after it
  while (outside < inside) {
    const uint32_t middle = outside + (inside - outside) / 2;
    if (value_of(slot_at(middle)) == value) {
      inside = middle;
    } else {
      outside = middle + 1;
    }
  }
  return inside;
}

bool SlotWalk::enter_group() noexcept {
  if (!descending_ || groupBegin_ == 0) return false;
  groupEnd_ = groupBegin_;
  groupBegin_ = at_ = group_begin(groupEnd_);
  return true;
}

uint32_t SlotWalk::peek(uint64_t ahead) const noexcept { return ahead < left() ? slot_at(locate(static_cast<uint32_t>(ahead)).at) : kEndOfList; }

SlotWalk::Place SlotWalk::locate(uint32_t ahead) const noexcept {
  const uint32_t inGroup = groupEnd_ - at_;
  if (ahead < inGroup) return {groupBegin_, groupEnd_, at_ + ahead};
  // The slot is in a group before the current one: in descending order, the groups below `groupBegin_`
  // follow.
  const uint32_t index = ahead - inGroup;
  const uint32_t inside = groupBegin_ - 1 - index;
  const int64_t value = value_of(slot_at(inside));
  uint32_t end = inside + 1;  // end of the group: between here and the current group
  for (uint32_t outside = groupBegin_; end < outside;) {
    const uint32_t middle = end + (outside - end) / 2;
    if (value_of(slot_at(middle)) == value) {
      end = middle + 1;
    } else {
      outside = middle;
    }
  }
  const uint32_t begin = group_begin(end);
  // A damaged permutation may have no such group.
  return {begin, end, std::min(begin + (index - (groupBegin_ - end)), end - 1)};
}

void SlotWalk::skip(uint64_t slots) noexcept {
  const Place place = slots < left() ? locate(static_cast<uint32_t>(slots)) : Place{descending_ ? 0 : groupBegin_, groupEnd_, groupEnd_};
  groupBegin_ = place.begin;
  groupEnd_ = place.end;
  at_ = place.at;
}

}  // namespace mds
