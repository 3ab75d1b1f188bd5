// See slot_orders.h. Every order is computed by a natural merge sort: existing runs are found, then
// neighbours are merged until one run is left.
#include "segment/slot_orders.h"

#include <algorithm>
#include <numeric>
#include <span>
#include <string_view>
#include <utility>

namespace mds {
namespace {

std::string_view slice(const std::vector<uint32_t>& ends, const std::vector<uint8_t>& bytes, uint32_t index) noexcept {
  const uint32_t begin = index == 0 ? 0 : ends[index - 1];
  return as_text(Bytes(bytes).subspan(begin, size_t{ends[index]} - begin));
}

class OrderWriter {
 public:
  explicit OrderWriter(SegmentColumns& columns) noexcept : c_(columns) {}

  void write_keys(std::vector<uint32_t> seed) {
    c_.byKey = order(std::move(seed), [this](uint32_t a, uint32_t b) {
      const int keys = key(a).compare(key(b));
      return keys != 0 ? keys < 0 : lang_before(a, b);
    });
    c_.keyRanks.resize(c_.byKey.size());
    for (const CollectionEntry& collection : c_.collections) {
      for (uint32_t index = collection.slotBegin; index < collection.slotEnd; ++index) {
        const uint32_t slot = c_.byKey[index];
        const bool isRepeated = index > collection.slotBegin && key(slot) == key(c_.byKey[index - 1]);
        c_.keyRanks[slot] = isRepeated ? c_.keyRanks[c_.byKey[index - 1]] : index - collection.slotBegin;
      }
    }
  }

  // Requires the order by key: key ranks decide between equal times.
  [[nodiscard]] std::vector<uint32_t> by_time(const std::vector<int64_t>& times, std::vector<uint32_t> seed) {
    return order(std::move(seed), [this, &times](uint32_t a, uint32_t b) {
      if (times[a] != times[b]) return times[a] < times[b];
      if (c_.keyRanks[a] != c_.keyRanks[b]) return c_.keyRanks[a] < c_.keyRanks[b];
      return lang_before(a, b);
    });
  }

 private:
  [[nodiscard]] std::string_view key(uint32_t slot) const noexcept { return slice(c_.keyEnds, c_.keyBytes, slot); }

  // Slots of a collection are ascending by docid.
  [[nodiscard]] bool lang_before(uint32_t a, uint32_t b) const noexcept {
    const int langs = slice(c_.langEnds, c_.langBytes, a).compare(slice(c_.langEnds, c_.langBytes, b));
    return langs != 0 ? langs < 0 : a < b;
  }

  // Whether each collection's range contains each of its slots once. Seeds come from segments, which may be
  // damaged.
  [[nodiscard]] bool is_permutation(std::span<const uint32_t> slots) {
    if (slots.size() != c_.docids.size()) return false;
    seen_.assign(slots.size(), false);
    for (const CollectionEntry& collection : c_.collections) {
      for (uint32_t index = collection.slotBegin; index < collection.slotEnd; ++index) {
        const uint32_t slot = slots[index];
        if (slot < collection.slotBegin || slot >= collection.slotEnd || seen_[slot]) return false;
        seen_[slot] = true;
      }
    }
    return true;
  }

  template <class Less>
  [[nodiscard]] std::vector<uint32_t> order(std::vector<uint32_t> slots, Less less) {
    if (!is_permutation(slots)) {
      slots.resize(c_.docids.size());
      std::iota(slots.begin(), slots.end(), 0U);
    }
    for (const CollectionEntry& collection : c_.collections) {
      merge_runs(std::span(slots).subspan(collection.slotBegin, collection.slotEnd - collection.slotBegin), less);
    }
    return slots;
  }

  template <class Less>
  void merge_runs(std::span<uint32_t> slots, Less less) {
    ends_.clear();
    for (size_t index = 1; index < slots.size(); ++index) {
      if (less(slots[index], slots[index - 1])) ends_.push_back(index);
    }
    ends_.push_back(slots.size());
    scratch_.resize(std::max(scratch_.size(), slots.size()));
    while (ends_.size() > 1) {
      size_t kept = 0;
      for (size_t run = 0, begin = 0; run < ends_.size(); run += 2) {
        const size_t middle = ends_[run];
        const size_t end = run + 1 < ends_.size() ? ends_[run + 1] : middle;
        const auto at = [](auto& bytes, size_t index) { return bytes.begin() + static_cast<ptrdiff_t>(index); };
        std::merge(at(slots, begin), at(slots, middle), at(slots, middle), at(slots, end), at(scratch_, begin), less);
        ends_[kept++] = begin = end;
      }
      ends_.resize(kept);
      std::copy_n(scratch_.begin(), slots.size(), slots.begin());
    }
  }

  SegmentColumns& c_;
  std::vector<bool> seen_;
  std::vector<size_t> ends_;  // ends of the runs
  std::vector<uint32_t> scratch_;
};

}  // namespace

void write_slot_orders(SegmentColumns& columns, OrderSeeds seeds) {
  OrderWriter writer(columns);
  writer.write_keys(std::move(seeds.byKey));
  columns.byAddedAt = writer.by_time(columns.addedAt, std::move(seeds.byAddedAt));
  columns.byUpdatedAt = writer.by_time(columns.updatedAt, std::move(seeds.byUpdatedAt));
}

}  // namespace mds
