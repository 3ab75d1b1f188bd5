// See facet_counter.h.
#include "query/facets/facet_counter.h"

#include <algorithm>
#include <array>
#include <bit>
#include <utility>

#include "query/filter/ranged_value.h"
#include "segment/postings/posting_cursor.h"

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

// A heap of the runs, ordered by their current value. Most comparisons are decided by the first eight bytes,
// which are stored contiguously here.
class ValueHeap {
 public:
  explicit ValueHeap(std::vector<ValueRun>& runs) {
    for (ValueRun& run : runs) entries_.push_back({prefix_of(run.value()), &run});
    for (size_t at = entries_.size(); at-- > 0;) sift_down(at);
  }

  [[nodiscard]] bool empty() const noexcept { return entries_.empty(); }
  // Returns the run with the smallest value.
  [[nodiscard]] ValueRun& front() noexcept { return *entries_.front().run; }
  // Moves to the first run's next value.
  void advance() {
    if (front().next()) {
      entries_.front().prefix = prefix_of(front().value());
    } else {
      entries_.front() = entries_.back();
      entries_.pop_back();
    }
    sift_down(0);
  }

 private:
  struct Entry {
    uint64_t prefix;
    ValueRun* run;
  };

  static uint64_t prefix_of(std::string_view value) noexcept {
    std::array<uint8_t, 8> bytes{};
    value.copy(reinterpret_cast<char*>(bytes.data()), bytes.size());
    return __builtin_bswap64(load_u64(bytes.data()));
  }
  static bool is_before(const Entry& a, const Entry& b) noexcept { return a.prefix != b.prefix ? a.prefix < b.prefix : a.run->value() < b.run->value(); }

  void sift_down(size_t at) noexcept {
    for (size_t child = 2 * at + 1; child < entries_.size(); child = 2 * at + 1) {
      if (child + 1 < entries_.size() && is_before(entries_[child + 1], entries_[child])) ++child;
      if (!is_before(entries_[child], entries_[at])) return;
      std::swap(entries_[child], entries_[at]);
      at = child;
    }
  }

  std::vector<Entry> entries_;
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
  std::vector<CountedValue> kept_;  // a heap, worst value first
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
  ValueHeap heap(runs);
  FacetCounts counts;
  BestValues best(byValue, most);
  std::string value;
  while (!heap.empty() && !stop.after(1) && counts.distinct <= distinctMax) {
    uint64_t count = 0;
    value = heap.front().value();
    do {
      count += heap.front().count(stop);
      heap.advance();
    } while (!heap.empty() && heap.front().value() == value);
    if (count == 0) continue;
    ++counts.distinct;
    best.add(value, count);
  }
  counts.values = best.take();
  return counts;
}

}  // namespace mds
