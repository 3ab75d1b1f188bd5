// A pure disjunction of terms, term at a time: each list adds its scores to an accumulator per slot of a window, then the window's live matches are collected.
// The leaves are added in the order of the plan, so that a document's sum equals what the iterators compute.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/limits.h"
#include "base/stop_signal.h"
#include "query/doc_iterator.h"
#include "query/resolved_query.h"
#include "query/segment_refinement.h"
#include "query/top_k.h"
#include "segment/posting_cursor.h"

namespace mds {

class WindowDisjunction {
 public:
  // The plan's root is a TERM or an OR of TERMs.
  WindowDisjunction(const ResolvedQuery& query, const ResolvedSegment& segment);

  // `filter`: what matches must be in as well; null: anything.
  void run(DocIteratorPtr filter, uint32_t segmentIndex, const SegmentRefinement& refinement, TopK& top, StopSignal& stop);

 private:
  struct FieldCursor {
    PostingCursor cursor;
    FieldLengths lengths;
    size_t field;
  };
  struct Leaf {
    LeafScorer scorer;
    std::vector<FieldCursor> cursors;
  };

  void add_leaf(uint32_t term);
  [[nodiscard]] uint32_t next_match() const noexcept;
  void score_one_field(Leaf& leaf, uint32_t begin, uint32_t end) noexcept;
  void score_fields(Leaf& leaf, uint32_t begin, uint32_t end) noexcept;
  void keep_filtered(DocIterator& filter, uint32_t begin, uint32_t end);
  void collect(uint32_t begin, uint32_t segmentIndex, const SegmentRefinement& refinement, TopK& top);

  static constexpr uint32_t kWindowWords = kWindowDocs / 64;

  const ResolvedQuery& query_;
  const ResolvedSegment& segment_;
  std::vector<Leaf> leaves_;
  uint64_t steps_ = 0;  // postings read in the current window
  // Slot begin + i of the window: its sum so far, whether it matches, and the tf~ of the leaf in hand. All zero between windows.
  std::array<double, kWindowDocs> scores_{};
  std::array<double, kWindowDocs> tfSums_{};
  std::array<uint64_t, kWindowWords> matches_{};
  std::array<uint64_t, kWindowWords> touched_{};
};

}  // namespace mds
