// See window_disjunction.h.
#include "query/exhaustive/window_disjunction.h"

#include <algorithm>
#include <bit>

namespace mds {

WindowDisjunction::WindowDisjunction(const ResolvedQuery& query, const ResolvedSegment& segment) : segment_(segment), window_(query, segment) {
  const PlanNode& root = query.plan->root;
  if (root.kind == NodeKind::kTerm) window_.add_term(root.term);
  for (const PlanNode& child : root.children) window_.add_term(child.term);
}

void WindowDisjunction::run(DocIteratorPtr filter, uint32_t segmentIndex, const SegmentRefinement& refinement, TopK& top, StopSignal& stop) {
  for (uint32_t begin = window_.next(); begin != kEndOfList; begin = window_.next()) {
    const uint64_t read = window_.fill(begin);
    if (filter != nullptr) keep_filtered(*filter, begin);
    collect(begin, segmentIndex, refinement, top);
    if (stop.after(static_cast<uint32_t>(std::min<uint64_t>(read + 1, kStepsPerPoll)))) return;
  }
}

void WindowDisjunction::keep_filtered(DocIterator& filter, uint32_t begin) {
  ScoredWindow::Bits passed{};
  for (uint32_t slot = filter.advance(begin); slot - begin < kWindowDocs; slot = filter.advance(slot + 1)) {
    const uint32_t at = slot - begin;
    passed[at / 64] |= uint64_t{1} << (at % 64);
  }
  window_.keep(passed);
}

void WindowDisjunction::collect(uint32_t begin, uint32_t segmentIndex, const SegmentRefinement& refinement, TopK& top) {
  for (uint32_t word = 0; word < ScoredWindow::kWords; ++word) {
    for (uint64_t bits = window_.matches()[word]; bits != 0; bits &= bits - 1) {
      const uint32_t at = word * 64 + static_cast<uint32_t>(std::countr_zero(bits));
      if (segment_.ref->alive(begin + at)) top.collect(segmentIndex, begin + at, refinement.boosted(begin + at, window_.score(at)));
    }
  }
  window_.clear();
}

}  // namespace mds
