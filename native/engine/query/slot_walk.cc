// See slot_walk.h.
#include "query/slot_walk.h"

#include <algorithm>

namespace mds {

SlotWalk::SlotWalk(const ResolvedSegment& segment, SortField sort, bool descending) noexcept
    : segment_(*segment.ref->segment),
      sort_(sort),
      descending_(descending),
      slotBegin_(segment.collection->slotBegin),
      count_(segment.collection->slotEnd - segment.collection->slotBegin),
      // Ascending, one group is enough: the permutation has the ties in their order.
      groupBegin_(descending ? count_ : 0),
      groupEnd_(count_),
      at_(groupBegin_) {
  if (sort == SortField::kAddedAt) order_ = segment_.ordered_slots(SlotOrder::kAddedAt, *segment.collection);
  if (sort == SortField::kUpdatedAt) order_ = segment_.ordered_slots(SlotOrder::kUpdatedAt, *segment.collection);
  if (sort == SortField::kKey) order_ = segment_.ordered_slots(SlotOrder::kKey, *segment.collection);
}

int64_t SlotWalk::value_of(uint32_t slot) const noexcept {
  switch (sort_) {
    case SortField::kAddedAt:
      return segment_.added_at(slot);
    case SortField::kUpdatedAt:
      return segment_.updated_at(slot);
    case SortField::kKey:
      return segment_.key_rank(slot);
    default:
      return slot;
  }
}

uint32_t SlotWalk::slot_at(uint32_t index) const noexcept {
  if (order_.empty()) return slotBegin_ + index;
  // A damaged permutation may hold anything: what is no slot of the collection becomes its first.
  return order_[index] - slotBegin_ < count_ ? order_[index] : slotBegin_;
}

// The group before the current one: doubling steps back, then halving, so that a group of any size costs its logarithm.
bool SlotWalk::enter_group() noexcept {
  if (!descending_ || groupBegin_ == 0) return false;
  const uint32_t end = groupBegin_;
  const int64_t value = value_of(slot_at(end - 1));
  uint32_t inside = end - 1;
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
  groupBegin_ = at_ = inside;
  groupEnd_ = end;
  return true;
}

void SlotWalk::skip(uint64_t slots) noexcept {
  while (slots > 0 && (at_ < groupEnd_ || enter_group())) {
    const uint64_t taken = std::min<uint64_t>(slots, groupEnd_ - at_);
    at_ += static_cast<uint32_t>(taken);
    slots -= taken;
  }
}

}  // namespace mds
