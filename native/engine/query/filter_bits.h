// The live documents of one segment that pass all filters of a plan, as bits. Used by one search on one thread; valid while the snapshot is referenced.
#pragma once

#include <cstdint>
#include <vector>

#include "base/stop_signal.h"
#include "query/resolved_query.h"

namespace mds {

// Bits over the slots of a collection. The first word begins at a multiple of 64, so that it lines up with the segment's live bits and its bit sets.
class SlotBits {
 public:
  explicit SlotBits(const CollectionEntry& collection)
      : slotBegin_(collection.slotBegin),
        slotEnd_(collection.slotEnd),
        base_(collection.slotBegin / 64 * 64),
        words_(bit_set_words(collection.slotBegin, collection.slotEnd)) {}

  [[nodiscard]] bool test(uint32_t slot) const noexcept { return (words_[(slot - base_) / 64] >> (slot % 64) & 1) != 0; }
  void set(uint32_t slot) noexcept { words_[(slot - base_) / 64] |= uint64_t{1} << (slot % 64); }
  void clear(uint32_t slot) noexcept { words_[(slot - base_) / 64] &= ~(uint64_t{1} << (slot % 64)); }
  // `words`: as many as these.
  void add(const ColumnView<uint64_t>& words) noexcept;
  void keep(std::span<const uint64_t> words) noexcept {
    for (size_t index = 0; index < words_.size(); ++index) words_[index] &= words[index];
  }
  [[nodiscard]] std::span<const uint64_t> words() const noexcept { return words_; }
  [[nodiscard]] uint32_t count() const noexcept;
  // Slots whose bits are set, ascending.
  template <class Visit>
  void for_each(Visit visit) const {
    for (size_t index = 0; index < words_.size(); ++index) {
      for (uint64_t word = words_[index]; word != 0; word &= word - 1) visit(base_ + static_cast<uint32_t>(index * 64) + static_cast<uint32_t>(__builtin_ctzll(word)));
    }
  }

 private:
  uint32_t slotBegin_;
  uint32_t slotEnd_;
  uint32_t base_;
  std::vector<uint64_t> words_;
};

// Requires a filter. Incomplete once `stop` is set.
[[nodiscard]] SlotBits filter_bits(const ResolvedSegment& segment, const std::vector<MetaFilter>& filters, StopSignal& stop);

}  // namespace mds
