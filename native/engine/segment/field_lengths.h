// Field lengths of one section. Copied by value, used by one thread; valid as long as the segment. A dense
// section is read through a window on the chunk of the last slot (in memory: the whole section), so that
// scoring loops perform a single comparison. Layout: docs/formats/segment.md.
#pragma once

#include <cstdint>
#include <span>

#include "base/bytes.h"
#include "segment/segment_columns.h"

namespace mds {

class FieldLengths {
 public:
  FieldLengths(const SectionEntry& section, const ColumnView<uint8_t>& column) noexcept;

  // Returns the length of the field in the document at `slot` (of the section's collection); 0 if the
  // document does not have the field.
  [[nodiscard]] uint32_t at(uint32_t slot) const noexcept {
    const uint32_t index = slot - windowBegin_;
    return index < windowCount_ ? load_u32(window_ + size_t{index} * lengthBytes_) & lengthMask_ : outside_window(slot);
  }

  // at() for many slots, which must be ascending.
  void gather(std::span<const uint32_t> slots, uint32_t* out) const noexcept;

  // Calls visit(slot, length) for every document that has the field, in slot order.
  template <class Visit>
  void for_each(Visit visit) const {
    for (uint32_t index = 0; index < sparseCount_; ++index) {
      // The column may come from disk: slots outside the collection are skipped.
      if (sparse_slot(index) - slotBegin_ < slotCount_) visit(sparse_slot(index), sparse_length(index));
    }
    for (uint32_t slot = slotBegin_; slot < denseEnd_; ++slot) {
      const uint32_t length = at(slot);
      if (length > 0) visit(slot, length);
    }
  }

 private:
  [[nodiscard]] uint32_t outside_window(uint32_t slot) const noexcept;
  [[nodiscard]] uint32_t sparse_slot(uint32_t index) const noexcept;
  [[nodiscard]] uint32_t sparse_length(uint32_t index) const noexcept;

  ColumnView<uint8_t> bytes_;  // bytes of this section
  uint32_t slotBegin_;
  uint32_t slotCount_;  // number of slots of the collection
  // End of the collection's slots; slotBegin_ for a sparse section, which has no window.
  uint32_t denseEnd_;
  uint32_t sparseCount_ = 0;  // number of documents of a sparse section; 0 for a dense one
  // Bytes per length. An index is multiplied by it, because a shift by a variable costs three times as much.
  uint32_t lengthBytes_;
  uint32_t lengthMask_ = 0;
  // The slots whose lengths are contiguous at window_: a cache of the last lookup. Because of it, a copy may
  // be used by one thread only.
  mutable uint32_t windowBegin_ = 0;
  mutable uint32_t windowCount_ = 0;
  mutable const uint8_t* window_ = nullptr;
};

}  // namespace mds
