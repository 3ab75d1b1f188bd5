// See segment_listing.h. The walk may take as many steps as selecting would cost; then the rest is selected.
// The total cost is at most twice that of the cheaper method, however filter and order correlate (documents
// of a category that were added first, listed from the newest).
#include "query/listing/segment_listing.h"

#include <algorithm>

#include "query/filter/ranged_slots.h"

namespace mds {
namespace {

// Costs: a step of the walk reads one slot in order and tests a bit, 1 to 4 ns. Selecting a match reads two
// values at its slot and compares, 5 ns.
constexpr uint64_t kStepsPerSelected = 2;
// Minimum number of steps: for fewer, a selection is not worth its allocation.
constexpr uint64_t kStepsMin = 64;

struct Choice {
  int64_t value;  // smaller sorts first
  uint32_t keyRank;
  uint32_t slot;
};

}  // namespace

SegmentListing::SegmentListing(const ResolvedQuery& query, uint32_t index, uint64_t share, StopSignal& stop)
    : segment_(query.segments[index]), stop_(stop), index_(index), descending_(query.plan->descending), walk_(segment_, query.plan->sort, descending_) {
  const CollectionEntry& collection = *segment_.collection;
  RangedSlots ranged = ranged_slots(query, segment_, stop);
  if (query.plan->filters.empty() && query.plan->ranges.empty()) {
    total_ = segment_.ref->live_in(collection);
    return;
  }
  if (ranged.isNothing) {
    bits_.emplace(collection);
  } else {
    bits_ = filter_bits(segment_, query.plan->filters, stop);
    if (ranged.bits) bits_->keep(ranged.bits->words());
  }
  total_ = bits_->count();
  stepsLeft_ = std::max(kStepsMin, total_ * kStepsPerSelected);
  // Matches that are spread evenly over the order are found every (documents / matches) steps.
  const uint64_t expected = share * (collection.slotEnd - collection.slotBegin) / std::max(1U, total_);
  if (expected > stepsLeft_) stepsLeft_ = 0;
}

uint32_t SegmentListing::next(uint64_t wanted) {
  while (!isSelected_) {
    if (bits_ && stepsLeft_-- == 0) {
      select(wanted);
      break;
    }
    const uint32_t slot = walk_.next();
    if (slot == kEndOfList || stop_.after(1)) return kEndOfList;
    if (!bits_) {
      if (segment_.ref->alive(slot)) return slot;
    } else if (bits_->test(slot)) {
      bits_->clear(slot);
      return slot;
    }
  }
  if (selected_.empty()) return kEndOfList;
  const uint32_t slot = selected_.back();
  selected_.pop_back();
  return slot;
}

void SegmentListing::select(uint64_t wanted) {
  isSelected_ = true;
  const Segment& segment = *segment_.ref->segment;
  std::vector<Choice> choices;
  choices.reserve(total_);
  bits_->for_each([&](uint32_t slot) {
    const int64_t value = walk_.value_of(slot);
    choices.push_back({descending_ ? ~value : value, segment.key_rank(slot), slot});
  });
  if (stop_.after(static_cast<uint32_t>(choices.size()))) return;
  const auto better = [&segment](const Choice& a, const Choice& b) {
    if (a.value != b.value) return a.value < b.value;
    if (a.keyRank != b.keyRank) return a.keyRank < b.keyRank;
    const int langs = segment.lang(a.slot).compare(segment.lang(b.slot));
    return langs != 0 ? langs < 0 : a.slot < b.slot;
  };
  const auto kept = static_cast<ptrdiff_t>(std::min<uint64_t>(wanted, choices.size()));
  std::partial_sort(choices.begin(), choices.begin() + kept, choices.end(), better);
  for (ptrdiff_t index = kept; index > 0; --index) selected_.push_back(choices[static_cast<size_t>(index - 1)].slot);
}

uint64_t SegmentListing::pass(uint64_t slots) noexcept {
  if (segment_.ref->live == nullptr) {
    walk_.skip(slots);
    return slots;
  }
  uint64_t alive = 0;
  for (; slots > 0 && !stop_.after(1); --slots) {
    if (segment_.ref->alive(walk_.next())) ++alive;
  }
  return alive;
}

}  // namespace mds
