// See pruned_leaf.h.
#include "query/pruned/pruned_leaf.h"

#include <algorithm>

namespace mds {

PrunedLeaf::PrunedLeaf(const ResolvedQuery& query, const ResolvedSegment& segment, uint32_t term, const WindowGrid& grid, DecodedBlockPool& pool)
    : scorer_(*query.plan, query.averageLengths, query.idfs[term], query.plan->terms[term].weight),
      wholeEstimate_(ScoreEstimate::whole(scorer_, 0)),
      isFields_(query.plan->algorithm == Algorithm::kBm25f) {
  const Segment& columns = *segment.ref->segment;
  const size_t fieldCount = segment.fields.size();
  const auto isHere = [&](size_t field) { return query.term_at(segment, term, field) != nullptr; };
  size_t listCount = 0;
  for (size_t field = 0; field < fieldCount; ++field) listCount += isHere(field) ? 1 : 0;
  lists_.reserve(listCount);
  for (size_t field = 0; field < fieldCount; ++field) {
    if (!isHere(field)) continue;
    const ScoreEstimate estimate = listCount == 1 ? ScoreEstimate::whole(scorer_, field) : ScoreEstimate::part(scorer_, field);
    isSafe_ = isSafe_ && estimate.is_safe();
    const SectionEntry& section = *segment.fields[field];
    lists_.emplace_back(PostingList(columns, section, *query.term_at(segment, term, field)), columns.lengths(section), field, estimate, grid, pool);
    df_ += lists_.back().df();
  }
  if (lists_.size() < 2) return;
  windowMaxes_.resize(grid.count());
  for (uint32_t window = 0; window < grid.count(); ++window) {
    float sum = 0;
    for (const WindowedList& list : lists_) sum += list.window_max(window);
    windowMaxes_[window] = finish(sum);
  }
}

bool PrunedLeaf::is_absent(uint32_t window) const noexcept {
  return std::all_of(lists_.begin(), lists_.end(), [window](const WindowedList& list) { return list.is_absent(window); });
}

float PrunedLeaf::bound_of_fields(uint32_t window, uint32_t slot) noexcept {
  float sum = 0;
  bool isAny = false;
  for (WindowedList& list : lists_) {
    if (!list.seek_block(window, slot)) continue;
    sum += list.current_max();
    isAny = true;
  }
  return isAny ? finish(sum) : kNoMatch;
}

double PrunedLeaf::score_of_fields(uint32_t window, uint32_t slot) {
  double tfSum = 0;
  bool isAny = false;
  for (WindowedList& list : lists_) {
    if (!list.seek_block(window, slot) || !list.find(slot)) continue;
    tfSum += scorer_.field_tf(list.field(), list.tf(), list.length(slot));
    isAny = true;
  }
  return isAny ? scorer_.score_sum(tfSum) : kNoMatch;
}

void PrunedLeaf::forget_blocks() noexcept {
  for (WindowedList& list : lists_) list.forget_blocks();
}

}  // namespace mds
