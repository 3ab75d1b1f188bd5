// See union_iterator.h.
#include "query/exhaustive/union_iterator.h"

#include <algorithm>
#include <bit>

#include "query/exhaustive/scored_window.h"

namespace mds {
namespace {

class UnionIterator final : public DocIterator {
 public:
  UnionIterator(const ResolvedQuery& query, const ResolvedSegment& segment, std::span<const PlanNode> nodes, StopSignal& stop) : window_(query, segment), stop_(stop) {
    for (const PlanNode& node : nodes) {
      if (node.kind == NodeKind::kTerm) window_.add_term(node.term);
    }
    doc_ = open(0);
  }
  uint32_t advance(uint32_t target) override {
    if (target > doc_) doc_ = target - begin_ < kWindowDocs ? find(target) : open(target);
    return doc_;
  }
  double score() override { return window_.score(doc_ - begin_); }
  uint64_t cost() const noexcept override { return window_.cost(); }

 private:
  // Fills the window that begins at the first match from `target` on. Returns that match.
  uint32_t open(uint32_t target) {
    window_.clear();
    window_.pass(target);
    begin_ = window_.next();
    if (begin_ == kEndOfList || stop_.stopped()) return kEndOfList;
    (void)stop_.after(static_cast<uint32_t>(std::min<uint64_t>(window_.fill(begin_), kStepsPerPoll)));
    return begin_;
  }

  uint32_t find(uint32_t target) {
    const uint32_t first = target - begin_;
    uint64_t bits = window_.matches()[first / 64] & ~uint64_t{0} << (first % 64);
    for (uint32_t word = first / 64;;) {
      if (bits != 0) return begin_ + word * 64 + static_cast<uint32_t>(std::countr_zero(bits));
      if (++word == ScoredWindow::kWords) return open(begin_ + kWindowDocs);
      bits = window_.matches()[word];
    }
  }

  ScoredWindow window_;
  StopSignal& stop_;
  uint32_t begin_ = 0;
};

}  // namespace

DocIteratorPtr make_union_iterator(const ResolvedQuery& query, const ResolvedSegment& segment, std::span<const PlanNode> nodes, StopSignal& stop) {
  return std::make_unique<UnionIterator>(query, segment, nodes, stop);
}

}  // namespace mds
