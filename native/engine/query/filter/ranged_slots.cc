// See ranged_slots.h.
#include "query/filter/ranged_slots.h"

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "base/limits.h"
#include "query/filter/ranged_value.h"
#include "query/filter/value_order.h"

namespace mds {
namespace {

bool is_lower(BoundKind kind) noexcept { return kind == BoundKind::kAtLeast || kind == BoundKind::kAbove; }

// Returns the indexes [begin, end) of `count` ascending values that satisfy all bounds.
template <class HoldsAt>
std::pair<uint32_t, uint32_t> indexes_within(const RangeFilter& range, uint32_t count, HoldsAt holdsAt) {
  std::pair<uint32_t, uint32_t> indexes{0, count};
  for (const RangeBound& bound : range.bounds) {
    uint32_t low = indexes.first;
    uint32_t high = indexes.second;
    // Finds the first index where a lower bound holds, or where an upper bound no longer holds.
    while (low < high) {
      const uint32_t middle = low + (high - low) / 2;
      if (holdsAt(bound, middle) == is_lower(bound.kind)) {
        high = middle;
      } else {
        low = middle + 1;
      }
    }
    (is_lower(bound.kind) ? indexes.first : indexes.second) = low;
  }
  return indexes;
}

// If the range contains fewer than 1/kScanShare of the documents, they are read from the order; else the
// column is scanned.
constexpr uint32_t kScanShare = 16;

// Sets the bits of the slots whose time is in [first, last].
void scan_times(const ColumnView<int64_t>& times, const CollectionEntry& collection, int64_t first, int64_t last, SlotBits& bits) {
  const uint32_t base = collection.slotBegin / 64 * 64;
  // A single unsigned comparison: a value below `first` wraps around to above the span.
  const auto low = static_cast<uint64_t>(first);
  const uint64_t span = static_cast<uint64_t>(last) - low;
  uint64_t word = 0;
  for (uint32_t slot = collection.slotBegin; slot < collection.slotEnd;) {
    const std::span<const int64_t> run = times.run_at(slot);
    if (run.empty()) return;
    const auto count = static_cast<uint32_t>(std::min<size_t>({run.size(), 64 - slot % 64, collection.slotEnd - slot}));
    uint64_t within = 0;
    for (uint32_t at = 0; at < count; ++at) within |= uint64_t{static_cast<uint64_t>(run[at]) - low <= span} << at;
    word |= within << (slot % 64);
    slot += count;
    if (slot % 64 != 0 && slot != collection.slotEnd) continue;
    bits.set_word((slot - 1 - base) / 64, word);
    word = 0;
  }
}

RangedSlots within_times(const ResolvedSegment& segment, const RangeFilter& range, StopSignal& stop) {
  const CollectionEntry& collection = *segment.collection;
  const SlotOrder order = range.field == RangeField::kAddedAt ? SlotOrder::kAddedAt : SlotOrder::kUpdatedAt;
  const ColumnView<int64_t>& times = segment.ref->segment->times(order);
  const ColumnView<uint32_t> slots = segment.ref->segment->ordered_slots(order, collection);
  const uint32_t count = collection.slotEnd - collection.slotBegin;
  // A damaged permutation may contain any number. A number that is not a slot of the collection is treated as
  // the collection's first slot.
  const auto slotAt = [&](uint32_t index) { return slots[index] - collection.slotBegin < count ? slots[index] : collection.slotBegin; };
  const auto [begin, end] =
      indexes_within(range, count, [&](const RangeBound& bound, uint32_t index) { return holds(bound, static_cast<double>(times[slotAt(index)])); });
  if (begin >= end) return {true, std::nullopt};
  if (begin == 0 && end == count) return {};
  (void)stop.after(end - begin);
  SlotBits bits(collection);
  if ((end - begin) < count / kScanShare) {
    for (uint32_t index = begin; index < end; ++index) bits.set(slotAt(index));
  } else {
    scan_times(times, collection, times[slotAt(begin)], times[slotAt(end - 1)], bits);
  }
  return {false, std::move(bits)};
}

void walk_values(const Segment& columns, const SectionEntry& section, const RangeFilter& range, SlotBits& bits, StopSignal& stop) {
  for (DictionaryWalk walk = columns.terms(section); walk.next() && !stop.after(1);) {
    if (is_within(range, read_ranged_value(walk.term()))) add_value(columns, section, walk.index(), walk.entry(), bits, stop);
  }
}

// Returns the indexes [begin, end) of the order whose slots have values within the range.
std::pair<uint32_t, uint32_t> slots_within(const Segment& columns, const SectionEntry& section, const RangeFilter& range, ValueKind kind, const ValueOrder& order) {
  if (kind == ValueKind::kScalar) {
    const auto holdsAt = [&order](const RangeBound& bound, uint32_t index) { return holds(bound, order.scalars[index]); };
    return indexes_within(range, static_cast<uint32_t>(order.scalars.size()), holdsAt);
  }
  const auto holdsAt = [&](const RangeBound& bound, uint32_t index) {
    const std::string text = columns.term(section, order.terms[index]);
    return is_within({range.field, range.key, {bound}}, read_ranged_value(text));
  };
  const auto [begin, end] = indexes_within(range, static_cast<uint32_t>(order.terms.size()), holdsAt);
  if (begin >= end) return {0, 0};
  return {begin == 0 ? 0 : order.ends[begin - 1], order.ends[end - 1]};
}

RangedSlots within_values(const ResolvedQuery& query, const ResolvedSegment& segment, const RangeFilter& range, StopSignal& stop) {
  const Segment& columns = *segment.ref->segment;
  const SectionEntry* section = columns.find_section(*segment.collection, SectionKind::kMeta, range.key);
  if (section == nullptr) return {true, std::nullopt};
  SlotBits bits(*segment.collection);
  const auto texts = std::count_if(range.bounds.begin(), range.bounds.end(), [](const RangeBound& bound) { return bound.isText; });
  // Bounds of different kinds have no common order.
  const bool isMixed = texts != 0 && texts != std::ssize(range.bounds);
  if (isMixed || range.bounds.empty() || section->termEnd - section->termBegin <= kRangeWalkTermsMax) {
    walk_values(columns, *section, range, bits, stop);
  } else {
    const ValueKind kind = texts != 0 ? ValueKind::kText : ValueKind::kScalar;
    const std::shared_ptr<const ValueOrder> order =
        query.orders == nullptr ? make_value_order(columns, *section, kind, stop) : query.orders->get(columns, *section, kind, stop);
    if (order == nullptr) return {true, std::nullopt};
    const auto [begin, end] = slots_within(columns, *section, range, kind, *order);
    for (uint32_t index = begin; index < end; ++index) bits.set(order->slots[index]);
    (void)stop.after(end > begin ? end - begin : 1);
  }
  if (bits.is_empty()) return {true, std::nullopt};
  return {false, std::move(bits)};
}

}  // namespace

RangedSlots ranged_slots(const ResolvedQuery& query, const ResolvedSegment& segment, StopSignal& stop) {
  RangedSlots all;
  for (const RangeFilter& range : query.plan->ranges) {
    RangedSlots one = range.field == RangeField::kMeta ? within_values(query, segment, range, stop) : within_times(segment, range, stop);
    if (one.isNothing || stop.stopped()) return {true, std::nullopt};
    if (!one.bits) continue;
    if (all.bits) {
      all.bits->keep(one.bits->words());
    } else {
      all.bits = std::move(one.bits);
    }
  }
  all.isNothing = all.bits && all.bits->is_empty();
  return all;
}

}  // namespace mds
