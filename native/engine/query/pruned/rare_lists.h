// The rare terms of a large disjunction in one segment. A rare term has one list of a single block. These
// lists are read once, as a whole, and their postings are grouped by window. A separate leaf with bounds
// (pruned_leaf.h) for each would cost more than its few postings. Used by one search on one thread. Valid
// while the snapshot is referenced.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "query/filter/window_grid.h"
#include "query/plan/resolved_query.h"
#include "query/pruned/score_estimate.h"

namespace mds {

class RareLists {
 public:
  // One posting of a window.
  struct Posting {
    uint32_t slot;
    uint32_t list;
    uint32_t tf;
    uint32_t length;
    float estimate;
  };

  explicit RareLists(const WindowGrid& grid) : grid_(grid) {}

  // Whether the term has exactly one list in the segment, of a single block.
  [[nodiscard]] static bool is_rare(const ResolvedQuery& query, const ResolvedSegment& segment, uint32_t term) noexcept;
  // Adds a rare term. `planIndex`: position in the order of the plan's terms, ascending from call to call.
  void add(const ResolvedQuery& query, const ResolvedSegment& segment, uint32_t term, uint32_t planIndex, uint32_t group);
  // Must be called after the last add().
  void sort_by_window();

  [[nodiscard]] bool is_safe() const noexcept { return isSafe_; }
  [[nodiscard]] size_t list_count() const noexcept { return lists_.size(); }
  [[nodiscard]] bool is_absent(uint32_t window) const noexcept { return lists_.empty() || begins_[window] == begins_[window + 1]; }
  // Never below the sum of the estimates of any document of the window.
  [[nodiscard]] float window_max(uint32_t window) const noexcept { return lists_.empty() ? 0 : windowMaxes_[window]; }
  // In the order of the lists.
  [[nodiscard]] std::span<const Posting> postings(uint32_t window) const noexcept {
    return lists_.empty() ? std::span<const Posting>() : std::span(postings_).subspan(begins_[window], begins_[window + 1] - begins_[window]);
  }

  [[nodiscard]] uint32_t plan_index(const Posting& posting) const noexcept { return lists_[posting.list].planIndex; }
  [[nodiscard]] uint32_t group(const Posting& posting) const noexcept { return lists_[posting.list].group; }
  // Equal, bit for bit, to the score of the exhaustive scorer.
  [[nodiscard]] double score(const Posting& posting) const noexcept;

 private:
  struct List {
    LeafScorer scorer;
    size_t field;
    uint32_t planIndex;
    uint32_t group;
    bool isFields;
  };

  WindowGrid grid_;
  std::vector<List> lists_;
  std::vector<Posting> postings_;
  std::vector<uint32_t> begins_;  // per window, plus the end
  std::vector<float> windowMaxes_;
  bool isSafe_ = true;
};

}  // namespace mds
