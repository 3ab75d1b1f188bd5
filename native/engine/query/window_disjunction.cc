// See window_disjunction.h.
#include "query/window_disjunction.h"

#include <algorithm>
#include <bit>

namespace mds {
namespace {

template <size_t kWords>
void set_bit(std::array<uint64_t, kWords>& words, uint32_t index) noexcept {
  words[index / 64] |= uint64_t{1} << (index % 64);
}

// Calls visit(slot, tf) for the postings below `end` and leaves the cursor on the first one that is not.
template <class Visit>
uint32_t visit_below(PostingCursor& cursor, uint32_t end, Visit visit) noexcept {
  uint32_t visited = 0;
  while (cursor.doc() < end) {
    const std::span<const uint32_t> slots = cursor.block_slots();
    const std::span<const uint32_t> tfs = cursor.block_tfs();
    uint32_t index = 0;
    for (; index < slots.size() && slots[index] < end; ++index) visit(slots[index], tfs[index]);
    cursor.skip(index);
    visited += index;
  }
  return visited;
}

}  // namespace

WindowDisjunction::WindowDisjunction(const ResolvedQuery& query, const ResolvedSegment& segment) : query_(query), segment_(segment) {
  const PlanNode& root = query.plan->root;
  if (root.kind == NodeKind::kTerm) add_leaf(root.term);
  for (const PlanNode& child : root.children) add_leaf(child.term);
}

void WindowDisjunction::add_leaf(uint32_t term) {
  Leaf leaf{LeafScorer(*query_.plan, query_.averageLengths, query_.idfs[term], query_.plan->terms[term].weight), {}};
  const Segment& columns = *segment_.ref->segment;
  for (size_t field = 0; field < segment_.fields.size(); ++field) {
    const TermEntry* found = query_.term_at(segment_, term, field);
    if (found == nullptr) continue;
    leaf.cursors.push_back({PostingCursor(columns, *segment_.fields[field], *found), columns.lengths(*segment_.fields[field]), field});
  }
  if (!leaf.cursors.empty()) leaves_.push_back(std::move(leaf));
}

uint32_t WindowDisjunction::next_match() const noexcept {
  uint32_t next = kEndOfList;
  for (const Leaf& leaf : leaves_) {
    for (const FieldCursor& field : leaf.cursors) next = std::min(next, field.cursor.doc());
  }
  return next;
}

void WindowDisjunction::run(DocIteratorPtr filter, uint32_t segmentIndex, const SegmentRefinement& refinement, TopK& top, StopSignal& stop) {
  for (uint32_t begin = next_match(); begin != kEndOfList; begin = next_match()) {
    const uint32_t end = begin < kEndOfList - kWindowDocs ? begin + kWindowDocs : kEndOfList;
    steps_ = 1;
    for (Leaf& leaf : leaves_) {
      if (query_.plan->algorithm == Algorithm::kBm25f) {
        score_fields(leaf, begin, end);
      } else {
        score_one_field(leaf, begin, end);
      }
    }
    if (filter != nullptr) keep_filtered(*filter, begin, end);
    collect(begin, segmentIndex, refinement, top);
    if (stop.after(static_cast<uint32_t>(std::min<uint64_t>(steps_, kStepsPerPoll)))) return;
  }
}

void WindowDisjunction::score_one_field(Leaf& leaf, uint32_t begin, uint32_t end) noexcept {
  FieldCursor& field = leaf.cursors[0];
  steps_ += visit_below(field.cursor, end, [&](uint32_t slot, uint32_t tf) {
    scores_[slot - begin] += leaf.scorer.score(field.field, tf, field.lengths.at(slot));
    set_bit(matches_, slot - begin);
  });
}

void WindowDisjunction::score_fields(Leaf& leaf, uint32_t begin, uint32_t end) noexcept {
  for (FieldCursor& field : leaf.cursors) {
    steps_ += visit_below(field.cursor, end, [&](uint32_t slot, uint32_t tf) {
      tfSums_[slot - begin] += leaf.scorer.field_tf(field.field, tf, field.lengths.at(slot));
      set_bit(touched_, slot - begin);
    });
  }
  for (uint32_t word = 0; word < kWindowWords; ++word) {
    for (uint64_t bits = touched_[word]; bits != 0; bits &= bits - 1) {
      const uint32_t at = word * 64 + static_cast<uint32_t>(std::countr_zero(bits));
      scores_[at] += leaf.scorer.score_sum(tfSums_[at]);
      tfSums_[at] = 0;
    }
    matches_[word] |= touched_[word];
    touched_[word] = 0;
  }
}

void WindowDisjunction::keep_filtered(DocIterator& filter, uint32_t begin, uint32_t end) {
  std::array<uint64_t, kWindowWords> passed{};
  for (uint32_t slot = filter.advance(begin); slot < end; slot = filter.advance(slot + 1)) set_bit(passed, slot - begin);
  for (uint32_t word = 0; word < kWindowWords; ++word) {
    for (uint64_t bits = matches_[word] & ~passed[word]; bits != 0; bits &= bits - 1) scores_[word * 64 + static_cast<uint32_t>(std::countr_zero(bits))] = 0;
    matches_[word] &= passed[word];
  }
}

void WindowDisjunction::collect(uint32_t begin, uint32_t segmentIndex, const SegmentRefinement& refinement, TopK& top) {
  for (uint32_t word = 0; word < kWindowWords; ++word) {
    for (uint64_t bits = matches_[word]; bits != 0; bits &= bits - 1) {
      const uint32_t at = word * 64 + static_cast<uint32_t>(std::countr_zero(bits));
      if (segment_.ref->alive(begin + at)) top.collect(segmentIndex, begin + at, refinement.boosted(begin + at, scores_[at]));
      scores_[at] = 0;
    }
    matches_[word] = 0;
  }
}

}  // namespace mds
