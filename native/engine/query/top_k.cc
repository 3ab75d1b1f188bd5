// See top_k.h.
#include "query/top_k.h"

#include <algorithm>
#include <array>
#include <bit>

namespace mds {
namespace {

// Maps doubles to integers of the same order.
int64_t order_of(double value) noexcept {
  const auto bits = std::bit_cast<int64_t>(value + 0.0);  // -0 becomes 0
  return bits < 0 ? bits ^ INT64_MAX : bits;
}

// First eight bytes of a key as a number of the same order: most comparisons of keys end here.
int64_t order_of(std::string_view key) noexcept {
  std::array<uint8_t, 8> bytes{};
  key.copy(reinterpret_cast<char*>(bytes.data()), bytes.size());  // not memcpy: an empty key may have no address
  return static_cast<int64_t>(__builtin_bswap64(load_u64(bytes.data())) ^ (uint64_t{1} << 63));
}

}  // namespace

TopK::TopK(const ResolvedQuery& query) : query_(query), wanted_(query.plan->k == 0 ? 0 : uint64_t{query.plan->skip} + query.plan->k) {}

int64_t TopK::primary_of(uint32_t segment, uint32_t slot, double score) const noexcept {
  const SearchPlan& plan = *query_.plan;
  const Segment& columns = *query_.segments[segment].ref->segment;
  int64_t value = 0;
  switch (plan.sort) {
    case SortField::kScore:
      return ~order_of(score);
    case SortField::kAddedAt:
      value = columns.added_at(slot);
      break;
    case SortField::kUpdatedAt:
      value = columns.updated_at(slot);
      break;
    case SortField::kKey:
      value = order_of(columns.key(slot));
      break;
    case SortField::kDocid:
      value = columns.docid(slot);
      break;
  }
  // ~x is -x - 1: reverses the order without overflow.
  return plan.descending ? ~value : value;
}

bool TopK::better(const Candidate& a, const Candidate& b) const noexcept {
  if (a.primary != b.primary) return a.primary < b.primary;
  const Segment& left = segment_of(a);
  const Segment& right = segment_of(b);
  const int keyOrder = left.key(a.slot).compare(right.key(b.slot));
  if (keyOrder != 0) return query_.plan->sort == SortField::kKey && query_.plan->descending ? keyOrder > 0 : keyOrder < 0;
  const int langOrder = left.lang(a.slot).compare(right.lang(b.slot));
  if (langOrder != 0) return langOrder < 0;
  return left.docid(a.slot) < right.docid(b.slot);
}

void TopK::keep(uint32_t segment, uint32_t slot, double score) {
  if (wanted_ == 0) return;
  const Candidate candidate{primary_of(segment, slot, score), score, segment, slot};
  const auto worseOnTop = [this](const Candidate& a, const Candidate& b) { return better(a, b); };
  if (heap_.size() < wanted_) {
    heap_.push_back(candidate);
    std::push_heap(heap_.begin(), heap_.end(), worseOnTop);
  } else if (candidate.primary <= heap_.front().primary && better(candidate, heap_.front())) {
    std::pop_heap(heap_.begin(), heap_.end(), worseOnTop);
    heap_.back() = candidate;
    std::push_heap(heap_.begin(), heap_.end(), worseOnTop);
  }
  if (heap_.size() == wanted_ && query_.plan->sort == SortField::kScore) scoreFloor_ = heap_.front().score;
}

std::vector<Candidate> TopK::take_page() {
  std::sort(heap_.begin(), heap_.end(), [this](const Candidate& a, const Candidate& b) { return better(a, b); });
  heap_.erase(heap_.begin(), heap_.begin() + static_cast<ptrdiff_t>(std::min<uint64_t>(query_.plan->skip, heap_.size())));
  return std::move(heap_);
}

}  // namespace mds
