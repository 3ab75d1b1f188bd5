// See field_lengths.h.
#include "segment/field_lengths.h"

#include <cstring>

namespace mds {
namespace {

constexpr uint32_t kSlotBytes = sizeof(uint32_t);

uint32_t load_at(const ColumnView<uint8_t>& bytes, size_t offset) noexcept {
  const Bytes run = bytes.run_at(offset);
  return run.empty() ? 0 : load_u32(run.data());  // kPackedPadding bytes behind a run are readable
}

// Loads through memcpy: alignment is not assumed.
template <class Item>
void gather_items(const uint8_t* items, uint32_t begin, std::span<const uint32_t> slots, uint32_t* out) noexcept {
  for (size_t index = 0; index < slots.size(); ++index) {
    Item item;
    std::memcpy(&item, items + size_t{slots[index] - begin} * sizeof item, sizeof item);
    out[index] = item;
  }
}

}  // namespace

FieldLengths::FieldLengths(const SectionEntry& section, const ColumnView<uint8_t>& column) noexcept
    : slotBegin_(section.slotBegin),
      slotCount_(section.slotEnd - section.slotBegin),
      denseEnd_(section.lengthsSparse != 0 ? section.slotBegin : section.slotEnd),
      lengthBytes_(section.lengthBytes) {
  lengthMask_ = lengthBytes_ == 1 ? 0xFF : lengthBytes_ == 2 ? 0xFFFF : UINT32_MAX;
  const bool isSparse = section.lengthsSparse != 0;
  if (isSparse) sparseCount_ = section.documents;
  const size_t size = isSparse ? size_t{section.documents} * (kSlotBytes + lengthBytes_) : size_t{slotCount_} * lengthBytes_;
  bytes_ = column.subview(static_cast<size_t>(section.lengthsBegin), size);
}

void FieldLengths::gather(std::span<const uint32_t> slots, uint32_t* out) const noexcept {
  if (slots.empty()) return;
  // at() moves the window to the first slot if needed. Usually the window also contains the last slot.
  out[0] = at(slots[0]);
  const uint32_t begin = windowBegin_;
  if (slots[0] - begin >= windowCount_ || slots.back() - begin >= windowCount_) {
    for (size_t index = 1; index < slots.size(); ++index) out[index] = at(slots[index]);
  } else if (lengthBytes_ == 1) {
    gather_items<uint8_t>(window_, begin, slots, out);
  } else if (lengthBytes_ == 2) {
    gather_items<uint16_t>(window_, begin, slots, out);
  } else {
    gather_items<uint32_t>(window_, begin, slots, out);
  }
}

uint32_t FieldLengths::outside_window(uint32_t slot) const noexcept {
  if (slot >= slotBegin_ && slot < denseEnd_) {
    const size_t index = size_t{slot} - slotBegin_;
    const Bytes run = bytes_.run_at(index * lengthBytes_);
    if (run.empty()) return 0;
    windowBegin_ = slot;
    windowCount_ = static_cast<uint32_t>(run.size() / lengthBytes_);
    window_ = run.data();
    return load_u32(window_) & lengthMask_;
  }
  uint32_t begin = 0;
  uint32_t end = sparseCount_;
  while (begin < end) {
    const uint32_t middle = begin + (end - begin) / 2;
    const uint32_t found = sparse_slot(middle);
    if (found == slot) return sparse_length(middle);
    if (found < slot) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return 0;
}

uint32_t FieldLengths::sparse_slot(uint32_t index) const noexcept { return load_at(bytes_, size_t{index} * kSlotBytes); }

uint32_t FieldLengths::sparse_length(uint32_t index) const noexcept {
  return load_at(bytes_, size_t{sparseCount_} * kSlotBytes + size_t{index} * lengthBytes_) & lengthMask_;
}

}  // namespace mds
