// The slots of one collection of one segment in the order of a listing, read from the permutations of the
// segment (docs/formats/segment.md). In a descending listing, documents of equal value keep their ascending
// order among themselves: the walk visits the groups of equal value from the back, and each group from its
// front. Used by one search on one thread.
#pragma once

#include <cstdint>

#include "query/plan/resolved_query.h"

namespace mds {

class SlotWalk {
 public:
  SlotWalk(const ResolvedSegment& segment, SortField sort, bool descending) noexcept;

  // Returns the next slot; kEndOfList past the last.
  [[nodiscard]] uint32_t next() noexcept {
    if (at_ == groupEnd_ && !enter_group()) return kEndOfList;
    return slot_at(at_++);
  }
  // Skips `slots` slots. O(log n).
  void skip(uint64_t slots) noexcept;

  // Returns the slot that a call of next() would return after `ahead` other calls; kEndOfList past the last.
  // O(log n).
  [[nodiscard]] uint32_t peek(uint64_t ahead) const noexcept;
  // Number of slots that next() has not yet returned.
  [[nodiscard]] uint32_t left() const noexcept { return groupEnd_ - at_ + (descending_ ? groupBegin_ : 0); }

  // The sort value of a slot of this segment; equal values are ordered by key, lang and docid.
  [[nodiscard]] int64_t value_of(uint32_t slot) const noexcept {
    if (sort_ == SortField::kAddedAt) return segment_.added_at(slot);
    if (sort_ == SortField::kUpdatedAt) return segment_.updated_at(slot);
    return sort_ == SortField::kKey ? segment_.key_rank(slot) : slot;
  }

 private:
  // A position in the walk.
  struct Place {
    uint32_t begin;  // of its group
    uint32_t end;
    uint32_t at;
  };

  // Of the slot `ahead` positions after the next one; `ahead` is below left().
  [[nodiscard]] Place locate(uint32_t ahead) const noexcept;
  [[nodiscard]] uint32_t slot_at(uint32_t index) const noexcept {
    if (order_.empty()) return slotBegin_ + index;
    // A damaged permutation may contain any number. A number that is not a slot of the collection is treated
    // as the collection's first slot.
    const uint32_t slot = order_[index];
    return slot - slotBegin_ < count_ ? slot : slotBegin_;
  }
  // Moves to the group before the current one. Returns false at the front.
  [[nodiscard]] bool enter_group() noexcept;
  [[nodiscard]] uint32_t group_begin(uint32_t end) const noexcept;

  const Segment& segment_;
  SortField sort_;
  bool descending_;
  uint32_t slotBegin_;
  uint32_t count_;
  ColumnView<uint32_t> order_;  // empty: sorted by docid, which is the order of the slots
  uint32_t groupBegin_;
  uint32_t groupEnd_;
  uint32_t at_;
};

}  // namespace mds
