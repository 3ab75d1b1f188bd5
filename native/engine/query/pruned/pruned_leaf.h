// One term of a pruned plan in one segment: its lists, one per scored field that contains it, and the bounds
// of their sum. See windowed_list.h.
#pragma once

#include <cstdint>
#include <vector>

#include "query/plan/resolved_query.h"
#include "query/pruned/windowed_list.h"

namespace mds {

// Returned instead of a score, which is never negative.
inline constexpr float kNoMatch = -1;

class PrunedLeaf {
 public:
  // Has no lists if the segment does not contain the term.
  PrunedLeaf(const ResolvedQuery& query, const ResolvedSegment& segment, uint32_t term, const WindowGrid& grid, DecodedBlockPool& pool);

  [[nodiscard]] bool is_empty() const noexcept { return lists_.empty(); }
  [[nodiscard]] bool is_single() const noexcept { return lists_.size() == 1; }
  [[nodiscard]] bool is_safe() const noexcept { return isSafe_; }
  [[nodiscard]] size_t list_count() const noexcept { return lists_.size(); }
  [[nodiscard]] uint64_t df() const noexcept { return df_; }
  [[nodiscard]] bool is_absent(uint32_t window) const noexcept;
  // Never below the score of any document of the window.
  [[nodiscard]] float window_max(uint32_t window) const noexcept { return is_single() ? lists_[0].window_max(window) : windowMaxes_[window]; }

  // Returns an upper bound of the score of the window's `slot`, from the blocks around it, without decoding
  // any; kNoMatch if the leaf cannot match.
  [[nodiscard]] float bound_at(uint32_t window, uint32_t slot) noexcept {
    if (!is_single()) return bound_of_fields(window, slot);
    return lists_[0].seek_block(window, slot) ? lists_[0].current_max() : kNoMatch;
  }
  // Returns the exact score of the window's `slot`; kNoMatch if it does not match. Equal, bit for bit, to the
  // score of the exhaustive scorer.
  [[nodiscard]] double score_at(uint32_t window, uint32_t slot) {
    if (isFields_) return score_of_fields(window, slot);
    return lists_[0].seek_block(window, slot) ? score_in_block(slot) : kNoMatch;
  }
  // The same, after bound_at of the same slot, which must not have returned kNoMatch.
  [[nodiscard]] double score_after_bound(uint32_t window, uint32_t slot) { return isFields_ ? score_of_fields(window, slot) : score_in_block(slot); }

  [[nodiscard]] WindowedList& only_list() noexcept { return lists_[0]; }
  [[nodiscard]] std::vector<WindowedList>& lists() noexcept { return lists_; }
  // Estimate of the leaf's score from the sum of its lists' estimates; requires more than one list.
  [[nodiscard]] float finish(float tfSum) const noexcept { return wholeEstimate_.finish(tfSum); }

  void forget_blocks() noexcept;

 private:
  [[nodiscard]] double score_in_block(uint32_t slot) {
    WindowedList& list = lists_[0];
    return list.find(slot) ? scorer_.score(list.field(), list.tf(), list.length(slot)) : kNoMatch;
  }
  [[nodiscard]] float bound_of_fields(uint32_t window, uint32_t slot) noexcept;
  [[nodiscard]] double score_of_fields(uint32_t window, uint32_t slot);

  LeafScorer scorer_;
  ScoreEstimate wholeEstimate_;
  std::vector<WindowedList> lists_;
  std::vector<float> windowMaxes_;  // only with more than one list
  uint64_t df_ = 0;
  bool isFields_;
  bool isSafe_ = true;
};

}  // namespace mds
