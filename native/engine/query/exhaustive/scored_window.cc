// See scored_window.h.
#include "query/exhaustive/scored_window.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace mds {
namespace {

void set_window_bit(ScoredWindow::Bits& words, uint32_t index) noexcept { words[index / 64] |= uint64_t{1} << (index % 64); }

// Calls visit(slot, tf) for the postings below `end`. Leaves the cursor on the first posting that is not
// below it.
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

void ScoredWindow::add_term(uint32_t term) {
  Leaf leaf{LeafScorer(*query_.plan, query_.averageLengths, query_.idfs[term], query_.plan->terms[term].weight), {}};
  const Segment& columns = *segment_.ref->segment;
  for (size_t field = 0; field < segment_.fields.size(); ++field) {
    const TermEntry* found = query_.term_at(segment_, term, field);
    if (found == nullptr) continue;
    leaf.cursors.push_back({PostingCursor(columns, *segment_.fields[field], *found), columns.lengths(*segment_.fields[field]), field});
    cost_ += found->df;
  }
  if (leaf.cursors.empty()) return;
  nexts_.push_back(first_slot(leaf));
  leaves_.push_back(std::move(leaf));
}

uint32_t ScoredWindow::first_slot(const Leaf& leaf) noexcept {
  uint32_t first = kEndOfList;
  for (const FieldCursor& field : leaf.cursors) first = std::min(first, field.cursor.doc());
  return first;
}

uint32_t ScoredWindow::next() const noexcept {
  uint32_t first = kEndOfList;
  for (const uint32_t slot : nexts_) first = std::min(first, slot);
  return first;
}

void ScoredWindow::pass(uint32_t target) noexcept {
  for (size_t at = 0; at < leaves_.size(); ++at) {
    if (nexts_[at] >= target) continue;
    for (FieldCursor& field : leaves_[at].cursors) field.cursor.advance(target);
    nexts_[at] = first_slot(leaves_[at]);
  }
}

uint64_t ScoredWindow::fill(uint32_t begin) noexcept {
  const uint32_t end = begin < kEndOfList - kWindowDocs ? begin + kWindowDocs : kEndOfList;
  const bool isFields = query_.plan->algorithm == Algorithm::kBm25f;
  uint64_t read = 0;
  for (size_t at = 0; at < leaves_.size(); ++at) {
    if (nexts_[at] >= end) continue;
    Leaf& leaf = leaves_[at];
    read += isFields ? score_fields(leaf, begin, end) : score_one_field(leaf, begin, end);
    nexts_[at] = first_slot(leaf);
  }
  return read;
}

uint64_t ScoredWindow::score_one_field(Leaf& leaf, uint32_t begin, uint32_t end) noexcept {
  FieldCursor& field = leaf.cursors[0];
  return visit_below(field.cursor, end, [&](uint32_t slot, uint32_t tf) {
    scores_[slot - begin] += leaf.scorer.score(field.field, tf, field.lengths.at(slot));
    set_window_bit(matches_, slot - begin);
  });
}

uint64_t ScoredWindow::score_fields(Leaf& leaf, uint32_t begin, uint32_t end) noexcept {
  uint64_t read = 0;
  for (FieldCursor& field : leaf.cursors) {
    read += visit_below(field.cursor, end, [&](uint32_t slot, uint32_t tf) {
      tfSums_[slot - begin] += leaf.scorer.field_tf(field.field, tf, field.lengths.at(slot));
      set_window_bit(touched_, slot - begin);
    });
  }
  for (uint32_t word = 0; word < kWords; ++word) {
    for (uint64_t bits = touched_[word]; bits != 0; bits &= bits - 1) {
      const uint32_t at = word * 64 + static_cast<uint32_t>(std::countr_zero(bits));
      scores_[at] += leaf.scorer.score_sum(tfSums_[at]);
      tfSums_[at] = 0;
    }
    matches_[word] |= touched_[word];
    touched_[word] = 0;
  }
  return read;
}

void ScoredWindow::keep(const Bits& passed) noexcept {
  for (uint32_t word = 0; word < kWords; ++word) {
    for (uint64_t bits = matches_[word] & ~passed[word]; bits != 0; bits &= bits - 1) scores_[word * 64 + static_cast<uint32_t>(std::countr_zero(bits))] = 0;
    matches_[word] &= passed[word];
  }
}

void ScoredWindow::clear() noexcept {
  for (uint32_t word = 0; word < kWords; ++word) {
    for (uint64_t bits = matches_[word]; bits != 0; bits &= bits - 1) scores_[word * 64 + static_cast<uint32_t>(std::countr_zero(bits))] = 0;
    matches_[word] = 0;
  }
}

}  // namespace mds
