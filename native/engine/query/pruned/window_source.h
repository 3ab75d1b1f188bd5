// The interface between pruned search and a plan in one segment: the bounds of its windows, and the search of
// one window. See pruned_search.h.
#pragma once

#include <cstdint>

#include "query/filter/segment_boosts.h"

namespace mds {

// The bound of a window that cannot match.
inline constexpr float kDeadWindow = -1;

class WindowSource {
 public:
  virtual ~WindowSource() = default;

  // Whether all scores can be estimated in float. If not, no other method may be called.
  [[nodiscard]] virtual bool is_safe() const noexcept = 0;
  // Upper bound of the number of estimates that are added; see estimate_threshold.
  [[nodiscard]] virtual size_t list_count() const noexcept = 0;
  // Never below the score of any document in the window; kDeadWindow if none can match.
  [[nodiscard]] virtual float bound_window(uint32_t window) const noexcept = 0;
  // With boosts: the following calls are for documents whose factor is at most `factorMost`. Bounds remain
  // those of unboosted scores.
  virtual void begin_pass(const SegmentBoosts& boosts, double factorMost) noexcept = 0;
  // Collects the window's matches that can still enter the result. Windows are requested in any order, each
  // once per pass.
  virtual void search_window(uint32_t window) = 0;
  // Drops the references to decoded blocks. Called between two windows.
  virtual void forget_blocks() noexcept = 0;
};

}  // namespace mds
