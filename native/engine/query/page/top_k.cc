// See top_k.h.
#include "query/page/top_k.h"

#include <algorithm>

namespace mds {
TopK::TopK(const ResolvedQuery& query) : query_(query), order_(query), wanted_(query.plan->k == 0 ? 0 : uint64_t{query.plan->skip} + query.plan->k) {}

void TopK::keep(uint32_t segment, uint32_t slot, double score) {
  if (wanted_ == 0) return;
  const Candidate candidate = order_.candidate(segment, slot, score);
  const auto worseOnTop = [this](const Candidate& a, const Candidate& b) { return order_.better(a, b); };
  if (heap_.size() < wanted_) {
    heap_.push_back(candidate);
    std::push_heap(heap_.begin(), heap_.end(), worseOnTop);
  } else if (candidate.primary <= heap_.front().primary && order_.better(candidate, heap_.front())) {
    std::pop_heap(heap_.begin(), heap_.end(), worseOnTop);
    heap_.back() = candidate;
    std::push_heap(heap_.begin(), heap_.end(), worseOnTop);
  }
  if (heap_.size() == wanted_ && query_.plan->sort == SortField::kScore) scoreFloor_ = heap_.front().score;
}

std::vector<Candidate> TopK::take_page() {
  std::sort(heap_.begin(), heap_.end(), [this](const Candidate& a, const Candidate& b) { return order_.better(a, b); });
  heap_.erase(heap_.begin(), heap_.begin() + static_cast<ptrdiff_t>(std::min<uint64_t>(query_.plan->skip, heap_.size())));
  return std::move(heap_);
}

}  // namespace mds
