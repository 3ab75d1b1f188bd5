// What pruned search asks of a plan in one segment: bounds of its windows, and the search of one window. See pruned_search.h.
#pragma once

#include <cstdint>

#include "query/filter/segment_boosts.h"

namespace mds {

// Bound of a window that cannot have a match.
inline constexpr float kDeadWindow = -1;

class WindowSource {
 public:
  virtual ~WindowSource() = default;

  // Whether float can estimate all scores: else nothing else may be called.
  [[nodiscard]] virtual bool is_safe() const noexcept = 0;
  // How many estimates are added up at most: see estimate_threshold.
  [[nodiscard]] virtual size_t list_count() const noexcept = 0;
  // Never below the score of a document in the window, or kDeadWindow.
  [[nodiscard]] virtual float bound_window(uint32_t window) const noexcept = 0;
  // With boosts: what follows is for documents that have no higher factor. Bounds stay those of unboosted scores.
  virtual void begin_pass(const SegmentBoosts& boosts, double factorMost) noexcept = 0;
  // Collects the window's matches that can still enter. Windows come in any order, each once in a pass.
  virtual void search_window(uint32_t window) = 0;
  // Forgets what has been decoded: between two windows.
  virtual void forget_blocks() noexcept = 0;
};

}  // namespace mds
