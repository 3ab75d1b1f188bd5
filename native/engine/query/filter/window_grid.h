// The slots of a collection in one segment, divided into windows of equal size. A window is the unit for
// which pruned search computes bounds, and which it orders and skips. Pure.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "base/limits.h"
#include "segment/segment.h"

namespace mds {

// Bit i % 64 of word i / 64 is slot i of a window.
using WindowBits = std::array<uint64_t, kPrunedWindowDocs / 64>;

inline void set_bit(WindowBits& bits, uint32_t at) noexcept { bits[at / 64] |= uint64_t{1} << (at % 64); }
[[nodiscard]] inline bool has_bit(const WindowBits& bits, uint32_t at) noexcept { return (bits[at / 64] >> (at % 64) & 1) != 0; }

// Calls visit(at) for each bit that is set, ascending.
template <class Visit>
void for_each_bit(const WindowBits& bits, Visit visit) {
  for (uint32_t word = 0; word < bits.size(); ++word) {
    for (uint64_t left = bits[word]; left != 0; left &= left - 1) visit(word * 64 + static_cast<uint32_t>(std::countr_zero(left)));
  }
}

class WindowGrid {
 public:
  explicit WindowGrid(const CollectionEntry& collection) noexcept
      : slotBegin_(collection.slotBegin),
        slotEnd_(collection.slotEnd),
        count_(static_cast<uint32_t>((uint64_t{collection.slotEnd} - collection.slotBegin + kPrunedWindowDocs - 1) / kPrunedWindowDocs)) {}

  [[nodiscard]] uint32_t count() const noexcept { return count_; }
  // The window of a slot of the collection.
  [[nodiscard]] uint32_t window_of(uint32_t slot) const noexcept { return (slot - slotBegin_) / kPrunedWindowDocs; }
  [[nodiscard]] uint32_t begin(uint32_t window) const noexcept { return slotBegin_ + window * kPrunedWindowDocs; }
  [[nodiscard]] uint32_t end(uint32_t window) const noexcept { return window + 1 == count_ ? slotEnd_ : begin(window + 1); }
  [[nodiscard]] bool contains(uint32_t slot) const noexcept { return slot >= slotBegin_ && slot < slotEnd_; }

 private:
  uint32_t slotBegin_;
  uint32_t slotEnd_;
  uint32_t count_;
};

}  // namespace mds
