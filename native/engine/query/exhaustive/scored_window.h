// Scores many terms over a window of slots, term at a time: each posting list adds its scores to one
// accumulator per slot. Terms are added in their given order, so that a document's sum equals, bit for bit,
// the sum that the iterators compute. Used by one search on one thread. Valid while the snapshot is
// referenced.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/limits.h"
#include "query/plan/resolved_query.h"
#include "segment/postings/posting_cursor.h"

namespace mds {

class ScoredWindow {
 public:
  static constexpr uint32_t kWords = kWindowDocs / 64;
  // Bit i % 64 of word i / 64 is slot i of the window.
  using Bits = std::array<uint64_t, kWords>;

  ScoredWindow(const ResolvedQuery& query, const ResolvedSegment& segment) noexcept : query_(query), segment_(segment) {}

  // A term without postings in the segment adds nothing.
  void add_term(uint32_t term);
  // Number of postings of all terms.
  [[nodiscard]] uint64_t cost() const noexcept { return cost_; }
  // Slot of the first posting that has been neither read nor skipped; kEndOfList at the end.
  [[nodiscard]] uint32_t next() const noexcept;
  // Skips the postings below `target`.
  void pass(uint32_t target) noexcept;
  // Reads the postings of the window of `kWindowDocs` slots that starts at `begin`, which must not be above
  // next(). Requires a clear window. Returns the number of postings read.
  uint64_t fill(uint32_t begin) noexcept;

  // Slots of the window that have a posting of any term.
  [[nodiscard]] const Bits& matches() const noexcept { return matches_; }
  [[nodiscard]] double score(uint32_t at) const noexcept { return scores_[at]; }
  // Removes the matches that are not in `passed`.
  void keep(const Bits& passed) noexcept;
  void clear() noexcept;

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

  [[nodiscard]] static uint32_t first_slot(const Leaf& leaf) noexcept;
  uint64_t score_one_field(Leaf& leaf, uint32_t begin, uint32_t end) noexcept;
  uint64_t score_fields(Leaf& leaf, uint32_t begin, uint32_t end) noexcept;

  const ResolvedQuery& query_;
  const ResolvedSegment& segment_;
  std::vector<Leaf> leaves_;
  // first_slot() of each leaf. Stored separately because a leaf is large and, among many leaves, most have no
  // posting in a given window.
  std::vector<uint32_t> nexts_;
  uint64_t cost_ = 0;
  // For slot begin + i of the window: its sum so far, whether it matches, and the tf~ of the current leaf.
  // All zero in a clear window.
  std::array<double, kWindowDocs> scores_{};
  std::array<double, kWindowDocs> tfSums_{};
  Bits matches_{};
  Bits touched_{};
};

}  // namespace mds
