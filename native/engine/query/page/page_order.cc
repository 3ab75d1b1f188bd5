// See page_order.h.
#include "query/page/page_order.h"

#include <array>
#include <bit>

namespace mds {
namespace {

// Maps doubles to integers with the same order.
int64_t order_of(double value) noexcept {
  const auto bits = std::bit_cast<int64_t>(value + 0.0);  // -0 becomes 0
  return bits < 0 ? bits ^ INT64_MAX : bits;
}

// The first eight bytes of a key as an integer with the same order. It decides most comparisons of keys.
int64_t order_of(std::string_view key) noexcept {
  std::array<uint8_t, 8> bytes{};
  // Not memcpy: the data pointer of an empty key may be null.
  key.copy(reinterpret_cast<char*>(bytes.data()), bytes.size());
  return static_cast<int64_t>(__builtin_bswap64(load_u64(bytes.data())) ^ (uint64_t{1} << 63));
}

}  // namespace

int64_t PageOrder::primary_of(uint32_t segment, uint32_t slot, double score) const noexcept {
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

bool PageOrder::better(const Candidate& a, const Candidate& b) const noexcept {
  if (a.primary != b.primary) return a.primary < b.primary;
  const Segment& left = segment_of(a);
  const Segment& right = segment_of(b);
  const int keyOrder = left.key(a.slot).compare(right.key(b.slot));
  if (keyOrder != 0) return query_.plan->sort == SortField::kKey && query_.plan->descending ? keyOrder > 0 : keyOrder < 0;
  const int langOrder = left.lang(a.slot).compare(right.lang(b.slot));
  if (langOrder != 0) return langOrder < 0;
  return left.docid(a.slot) < right.docid(b.slot);
}

}  // namespace mds
