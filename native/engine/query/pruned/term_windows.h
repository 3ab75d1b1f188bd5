// Pruned search of a plan of terms, window by window. pruned_search.h describes how candidates are found; see
// also window_source.h. Used by one search on one thread.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "query/page/top_k.h"
#include "query/pruned/pruned_leaf.h"
#include "query/pruned/pruned_plan.h"
#include "query/pruned/rare_lists.h"
#include "query/pruned/segment_filter.h"
#include "query/pruned/window_source.h"

namespace mds {

class TermWindows final : public WindowSource {
 public:
  TermWindows(const ResolvedQuery& query, const PrunedPlan& plan, uint32_t index, const WindowGrid& grid, SegmentFilter& filter, DecodedBlockPool& pool, TopK& top);

  [[nodiscard]] bool is_safe() const noexcept override;
  [[nodiscard]] size_t list_count() const noexcept override { return listCount_; }
  [[nodiscard]] float bound_window(uint32_t window) const noexcept override;
  void begin_pass(const SegmentBoosts& boosts, double factorMost) noexcept override {
    boosts_ = &boosts;
    factorMost_ = factorMost;
  }
  void search_window(uint32_t window) override;
  void forget_blocks() noexcept override;

 private:
  struct Leaf {
    PrunedLeaf scores;
    bool isRequired;
    uint32_t planIndex;  // position in the order of the plan
    uint32_t group;
  };
  // A leaf that has postings in the current window.
  struct Present {
    Leaf* leaf;
    float max;     // bound of the leaf's scores in the window
    float before;  // sum of the bounds of the leaves before it
    float behind;  // sum of the bounds of the leaves behind it, rare lists included
  };
  struct Candidate {
    uint32_t slot;
    float estimate;
  };

  // Orders the leaves of the window: first the optional ones, lowest bound first, then the required ones,
  // most frequent first. They are processed from the back to the front.
  void order_leaves();
  // Returns the index of the first leaf that proposes candidates; rare terms always do.
  [[nodiscard]] size_t first_proposer() const noexcept;
  void propose_filtered();
  // Proposes the candidates of a single list.
  void propose_list(WindowedList& list, float least);
  // Proposes the candidates of the leaves from `first` on, by the sums of their estimates.
  void propose_sums(size_t first);
  void add_estimates(WindowedList& list, float least);
  void add_parts(PrunedLeaf& leaf);
  void add_rare(bool isMarked);
  void mark_matches(PrunedLeaf& leaf);
  void propose_marked(float least);
  // Adds the leaf's score to the candidates that match it. Drops candidates that cannot reach the threshold
  // or that lack a required term.
  void join(const Present& present);
  void propose(uint32_t slot, float estimate) {
    if (filter_.passes(slot)) candidates_.push_back({slot, estimate});
  }
  // Drops candidates that cannot be hits. If more than the wanted number remain, raises the threshold to the
  // estimate of the last wanted one.
  void settle_threshold();
  // Number of roundings in a candidate's estimate, for estimate_threshold. A boost adds two.
  [[nodiscard]] size_t estimate_terms() const noexcept { return boosts_ == nullptr ? listCount_ : listCount_ + 2; }
  // With boosts: converts estimates and threshold to boosted scores.
  void boost_candidates();
  void collect_exact();
  // Returns kNoMatch if the slot does not match.
  [[nodiscard]] double exact_score(uint32_t slot);

  const ResolvedSegment& segment_;
  uint32_t index_;
  const WindowGrid& grid_;
  SegmentFilter& filter_;
  TopK& top_;
  std::vector<Leaf> leaves_;     // in the order of the plan
  std::vector<Leaf*> required_;  // most frequent first
  std::vector<Leaf*> optional_;
  RareLists rare_;
  size_t listCount_ = 0;
  bool isImpossible_ = false;              // a required term is not in the segment
  const SegmentBoosts* boosts_ = nullptr;  // of the current pass
  double factorMost_ = 1;

  // Data of the current window.
  uint32_t window_ = 0;
  uint32_t begin_ = 0;
  float threshold_ = 0;
  float leafSum_ = 0;  // sum of the bounds of the leaves in present_
  std::vector<Present> present_;
  std::vector<Candidate> candidates_;  // sorted by slot
  std::vector<float> scratch_;
  std::vector<RareLists::Posting> rareFound_;  // rare postings of the current slot
  // Indexed by slot of the window; zero between windows. Bit i of `touched_` is set if a slot of [32 i, 32 i
  // + 32) has a sum.
  alignas(16) std::array<float, kPrunedWindowDocs> sums_{};
  std::array<float, kPrunedWindowDocs> parts_{};
  uint64_t touched_ = 0;
  WindowBits matches_{};
};

}  // namespace mds
