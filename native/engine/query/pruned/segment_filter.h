// Determines which slots of a segment a plan admits: alive, passed by all metadata filters, within all
// ranges, in the current pass, without an excluded term. Evaluated window by window, each part only when
// needed. Used by one search on one thread. Valid while the snapshot is referenced.
#pragma once

#include <cstdint>
#include <vector>

#include "base/stop_signal.h"
#include "query/filter/filter_bits.h"
#include "query/filter/slot_set.h"
#include "query/plan/resolved_query.h"
#include "query/pruned/pruned_plan.h"

namespace mds {

class SegmentFilter {
 public:
  SegmentFilter(const ResolvedQuery& query, const ResolvedSegment& segment, const PrunedPlan& plan, const SlotBits* ranged, const WindowGrid& grid, StopSignal& stop);

  // Restricts the following windows to these documents; null: no restriction.
  void begin_pass(const SlotBits* documents) noexcept { pass_ = documents; }

  // Whether there is a filter that no document of the segment passes.
  [[nodiscard]] bool is_impossible() const noexcept { return isImpossible_; }
  [[nodiscard]] bool has_filters() const noexcept { return ranged_ != nullptr || pass_ != nullptr || !filters_.empty(); }

  // Evaluates the filters in a window. Returns the number of slots that pass; without a filter, all slots of
  // the window.
  uint32_t enter(uint32_t window);
  // Whether a slot of the entered window passes the filters.
  [[nodiscard]] bool passes(uint32_t slot) const noexcept { return !has_filters() || has_bit(passed_, slot - begin_); }
  [[nodiscard]] const WindowBits& passed() const noexcept { return passed_; }
  // Whether a slot of the entered window is alive and without an excluded term.
  [[nodiscard]] bool admits(uint32_t slot);

 private:
  const ResolvedSegment& segment_;
  const WindowGrid& grid_;
  const SlotBits* ranged_;
  const SlotBits* pass_ = nullptr;
  std::vector<SlotSet> filters_;  // rarest first
  std::vector<SlotSet> excluded_;
  bool isImpossible_ = false;
  uint32_t window_ = 0;
  uint32_t begin_ = 0;
  bool hasExcluded_ = false;  // keptOut_ is valid for the entered window
  WindowBits passed_{};
  WindowBits keptOut_{};
};

}  // namespace mds
