// See facet_counter.h.
#include "query/facet_counter.h"

#include <algorithm>
#include <bit>

#include "query/ranged_value.h"
#include "segment/posting_cursor.h"

namespace mds {
namespace {

uint64_t common_bits(const ColumnView<uint64_t>& stored, std::span<const uint64_t> words) noexcept {
  uint64_t count = 0;
  for (size_t at = 0; at < std::min(stored.size(), words.size());) {
    for (const uint64_t word : stored.run_at(at).first(std::min(stored.run_at(at).size(), words.size() - at)))
      count += static_cast<uint64_t>(std::popcount(word & words[at++]));
  }
  return count;
}

// The values of the key in one segment.
class ValueRun {
 public:
  ValueRun(const CountedSegment& counted, const SectionEntry& section) : counted_(&counted), section_(&section), walk_(columns().terms(section)) {}

  [[nodiscard]] bool next() { return walk_.next(); }
  [[nodiscard]] std::string_view value() const noexcept { return walk_.term(); }
  [[nodiscard]] uint64_t count(StopSignal& stop) const {
    const TermEntry& entry = walk_.entry();
    if (!counted_->documents) return entry.df;
    const SlotBits& documents = *counted_->documents;
    const ColumnView<uint64_t> stored = columns().bit_set(*section_, walk_.index());
    if (!stored.empty()) return common_bits(stored, documents.words());
    if (stop.after(entry.df)) return 0;
    uint64_t count = 0;
    PostingCursor cursor(columns(), *section_, entry);
    while (cursor.doc() != kEndOfList) {
      const std::span<const uint32_t> slots = cursor.block_slots();
      for (const uint32_t slot : slots) count += documents.test(slot) ? 1 : 0;
      cursor.skip(static_cast<uint32_t>(slots.size()));
    }
    return count;
  }

 private:
  [[nodiscard]] const Segment& columns() const noexcept { return *counted_->segment.ref->segment; }

  const CountedSegment* counted_;
  const SectionEntry* section_;
  DictionaryWalk walk_;
};

class BestValues {
 public:
  BestValues(bool byValue, uint32_t most) : byValue_(byValue), most_(most) {}

  void add(std::string_view value, uint64_t count) {
    const auto worseOnTop = [this](const CountedValue& a, const CountedValue& b) { return better(a.value, a.count, b); };
    if (kept_.size() == most_) {
      if (most_ == 0 || !better(value, count, kept_.front())) return;
      std::pop_heap(kept_.begin(), kept_.end(), worseOnTop);
      kept_.pop_back();
    }
    kept_.push_back({std::string(value), count});
    std::push_heap(kept_.begin(), kept_.end(), worseOnTop);
  }
  std::vector<CountedValue> take() {
    std::sort(kept_.begin(), kept_.end(), [this](const CountedValue& a, const CountedValue& b) { return better(a.value, a.count, b); });
    return std::move(kept_);
  }

 private:
  [[nodiscard]] bool better(std::string_view value, uint64_t count, const CountedValue& other) const noexcept {
    if (!byValue_ && count != other.count) return count > other.count;
    return compare_utf16(value, other.value) < 0;
  }

  bool byValue_;
  uint32_t most_;
  std::vector<CountedValue> kept_;  // a heap, the worst first
};

}  // namespace

FacetCounts count_values(const std::vector<CountedSegment>& segments, std::string_view key, bool byValue, uint32_t most, uint64_t distinctMax, StopSignal& stop) {
  std::vector<ValueRun> runs;
  for (const CountedSegment& counted : segments) {
    const Segment& columns = *counted.segment.ref->segment;
    const SectionEntry* section = columns.find_section(*counted.segment.collection, SectionKind::kMeta, key);
    if (section == nullptr) continue;
    runs.emplace_back(counted, *section);
    if (!runs.back().next()) runs.pop_back();
  }
  std::vector<ValueRun*> heap;  // the smallest value first
  for (ValueRun& run : runs) heap.push_back(&run);
  const auto later = [](const ValueRun* a, const ValueRun* b) { return a->value() > b->value(); };
  std::make_heap(heap.begin(), heap.end(), later);
  FacetCounts counts;
  BestValues best(byValue, most);
  std::string value;
  while (!heap.empty() && !stop.after(1) && counts.distinct <= distinctMax) {
    uint64_t count = 0;
    value = heap.front()->value();
    do {
      std::pop_heap(heap.begin(), heap.end(), later);
      count += heap.back()->count(stop);
      if (heap.back()->next()) {
        std::push_heap(heap.begin(), heap.end(), later);
      } else {
        heap.pop_back();
      }
    } while (!heap.empty() && heap.front()->value() == value);
    if (count == 0) continue;
    ++counts.distinct;
    best.add(value, count);
  }
  counts.values = best.take();
  return counts;
}

}  // namespace mds
