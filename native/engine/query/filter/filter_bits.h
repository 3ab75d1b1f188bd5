// Documents of one segment as bits: those that pass all filters and ranges of a plan, or that have a metadata
// value. Used by one search on one thread. Valid while the snapshot is referenced.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <vector>

#include "base/stop_signal.h"
#include "query/filter/window_grid.h"
#include "query/plan/resolved_query.h"

namespace mds {

// Bits over the slots of a collection. The first word begins at a multiple of 64, aligned with the segment's
// live bits and bit sets.
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
  // `words`: as many words as this object has.
  void add(const ColumnView<uint64_t>& words) noexcept;
  void keep(std::span<const uint64_t> words) noexcept {
    for (size_t index = 0; index < words_.size(); ++index) words_[index] &= words[index];
  }
  void add(const SlotBits& other) noexcept {
    for (size_t index = 0; index < words_.size(); ++index) words_[index] |= other.words_[index];
  }
  void remove(const SlotBits& other) noexcept {
    for (size_t index = 0; index < words_.size(); ++index) words_[index] &= ~other.words_[index];
  }
  // Sets the bits of all slots of the collection.
  void fill() noexcept;
  void set_word(size_t index, uint64_t word) noexcept { words_[index] = word; }
  [[nodiscard]] bool is_empty() const noexcept {
    return std::all_of(words_.begin(), words_.end(), [](uint64_t word) { return word == 0; });
  }
  // Clears in `bits` every bit that is not set in this object. `begin`: first slot of the window, a multiple
  // of the window size from the collection's first slot.
  void keep_window(uint32_t begin, WindowBits& bits) const noexcept;
  // Returns the first slot >= `target` whose bit is set; kEndOfList if there is none.
  [[nodiscard]] uint32_t next(uint32_t target) const noexcept;
  [[nodiscard]] std::span<const uint64_t> words() const noexcept { return words_; }
  [[nodiscard]] uint32_t count() const noexcept;
  // Visits the slots whose bits are set, ascending.
  template <class Visit>
  void for_each(Visit visit) const {
    for (size_t index = 0; index < words_.size(); ++index) {
      for (uint64_t word = words_[index]; word != 0; word &= word - 1) visit(base_ + static_cast<uint32_t>(index * 64) + static_cast<uint32_t>(__builtin_ctzll(word)));
    }
  }

 private:
  void mask_ends() noexcept;

  uint32_t slotBegin_;
  uint32_t slotEnd_;
  uint32_t base_;
  std::vector<uint64_t> words_;
};

// Adds the documents that have the value `term` of the section, dead ones included. The result is incomplete
// once `stop` is set.
void add_value(const Segment& segment, const SectionEntry& section, uint32_t term, const TermEntry& entry, SlotBits& bits, StopSignal& stop);

// Returns the live documents that pass all filters. The result is incomplete once `stop` is set.
[[nodiscard]] SlotBits filter_bits(const ResolvedSegment& segment, const std::vector<MetaFilter>& filters, StopSignal& stop);

}  // namespace mds
