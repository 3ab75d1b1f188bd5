// The matches of a listing in one segment, in the order of the page. Walks the segment's permutation and
// tests each slot. If the matches are so few or so far back that the walk would cost more than reading all of
// them, it selects the best instead. Used by one search on one thread. Valid while the snapshot is
// referenced.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/stop_signal.h"
#include "query/filter/filter_bits.h"
#include "query/listing/slot_walk.h"

namespace mds {

class SegmentListing {
 public:
  // `share`: the approximate number of the page's matches that this segment provides.
  SegmentListing(const ResolvedQuery& query, uint32_t index, uint64_t share, StopSignal& stop);

  // Index of the segment in the query.
  [[nodiscard]] uint32_t index() const noexcept { return index_; }
  // Number of live documents that pass the filters.
  [[nodiscard]] uint32_t total() const noexcept { return total_; }
  // Moves to the next match and returns its slot; kEndOfList past the last or when the search is stopped.
  // `wanted`: upper bound of the number of matches that will be requested, including this one.
  [[nodiscard]] uint32_t next(uint64_t wanted);

  // For skipping many matches; valid only without filters. left(): the number of slots left, dead ones
  // included. peek(): the slot `ahead` positions after the next one. pass(): skips `slots` slots and returns
  // the number of live ones among them.
  [[nodiscard]] uint32_t left() const noexcept { return walk_.left(); }
  [[nodiscard]] uint32_t peek(uint64_t ahead) const noexcept { return walk_.peek(ahead); }
  [[nodiscard]] uint64_t pass(uint64_t slots) noexcept;

 private:
  void select(uint64_t wanted);

  const ResolvedSegment& segment_;
  StopSignal& stop_;
  uint32_t index_;
  bool descending_;
  uint32_t total_;
  SlotWalk walk_;
  uint64_t stepsLeft_ = 0;        // steps of the walk left before selecting is cheaper; with filters only
  std::optional<SlotBits> bits_;  // with filters: matches not yet returned
  bool isSelected_ = false;
  std::vector<uint32_t> selected_;  // in reverse order: the next one is last
};

}  // namespace mds
