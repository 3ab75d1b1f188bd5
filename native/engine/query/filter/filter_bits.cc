// See filter_bits.h. Dense values have bit sets in the segment. The postings of the other values are read
// into bits; each such value has at most 1/32 of the documents.
#include "query/filter/filter_bits.h"

#include <algorithm>
#include <bit>

#include "segment/postings/posting_cursor.h"

namespace mds {
namespace {

void add_postings(const Segment& segment, const SectionEntry& section, const TermEntry& entry, SlotBits& bits, StopSignal& stop) {
  if (stop.after(entry.df)) return;
  PostingCursor cursor(segment, section, entry);
  while (cursor.doc() != kEndOfList) {
    const std::span<const uint32_t> slots = cursor.block_slots();
    for (const uint32_t slot : slots) bits.set(slot);
    cursor.skip(static_cast<uint32_t>(slots.size()));
  }
}

// Returns the documents that pass one filter, dead ones included.
SlotBits passing(const ResolvedSegment& segment, const MetaFilter& filter, StopSignal& stop) {
  SlotBits bits(*segment.collection);
  const Segment& columns = *segment.ref->segment;
  const SectionEntry* section = columns.find_section(*segment.collection, SectionKind::kMeta, filter.key);
  if (section == nullptr) return bits;
  for (const std::string_view value : filter.values) {
    const std::optional<uint32_t> term = columns.find_term(*section, value);
    if (term) add_value(columns, *section, *term, columns.term_entry(*term), bits, stop);
  }
  if (!filter.anyValue) return bits;
  const ColumnView<uint64_t> stored = columns.bit_set(*section, kEveryTerm);
  if (!stored.empty()) {
    bits.add(stored);
    return bits;
  }
  for (DictionaryWalk walk = columns.terms(*section); walk.next() && !stop.stopped();) add_postings(columns, *section, walk.entry(), bits, stop);
  return bits;
}

}  // namespace

void add_value(const Segment& segment, const SectionEntry& section, uint32_t term, const TermEntry& entry, SlotBits& bits, StopSignal& stop) {
  const ColumnView<uint64_t> stored = segment.bit_set(section, term);
  if (!stored.empty()) return bits.add(stored);
  add_postings(segment, section, entry, bits, stop);
}

void SlotBits::fill() noexcept {
  std::fill(words_.begin(), words_.end(), ~uint64_t{0});
  mask_ends();
}

void SlotBits::mask_ends() noexcept {
  words_.front() &= ~uint64_t{0} << (slotBegin_ % 64);
  if (slotEnd_ % 64 != 0) words_.back() &= (uint64_t{1} << (slotEnd_ % 64)) - 1;
}

void SlotBits::keep_window(uint32_t begin, WindowBits& bits) const noexcept {
  const size_t first = (begin - base_) / 64;
  const uint32_t shift = (begin - base_) % 64;
  for (size_t index = 0; index < bits.size(); ++index) {
    const uint64_t low = first + index < words_.size() ? words_[first + index] >> shift : 0;
    const uint64_t high = shift != 0 && first + index + 1 < words_.size() ? words_[first + index + 1] << (64 - shift) : 0;
    bits[index] &= low | high;
  }
}

uint32_t SlotBits::next(uint32_t target) const noexcept {
  if (target >= slotEnd_) return kEndOfList;
  size_t index = (std::max(target, base_) - base_) / 64;
  uint64_t word = words_[index] & (target > base_ ? ~uint64_t{0} << (target % 64) : ~uint64_t{0});
  while (word == 0) {
    if (++index == words_.size()) return kEndOfList;
    word = words_[index];
  }
  return base_ + static_cast<uint32_t>(index * 64) + static_cast<uint32_t>(std::countr_zero(word));
}

void SlotBits::add(const ColumnView<uint64_t>& words) noexcept {
  const size_t count = std::min(words.size(), words_.size());
  for (size_t at = 0; at < count;) {
    for (const uint64_t word : words.run_at(at).first(std::min(words.run_at(at).size(), count - at))) words_[at++] |= word;
  }
  // In a damaged segment, bits outside the collection may be set.
  mask_ends();
}

uint32_t SlotBits::count() const noexcept {
  uint32_t bits = 0;
  for (const uint64_t word : words_) bits += static_cast<uint32_t>(std::popcount(word));
  return bits;
}

SlotBits filter_bits(const ResolvedSegment& segment, const std::vector<MetaFilter>& filters, StopSignal& stop) {
  SlotBits bits(*segment.collection);
  bits.fill();
  for (size_t index = 0; index < filters.size() && !stop.stopped(); ++index) bits.keep(passing(segment, filters[index], stop).words());
  if (segment.ref->live != nullptr) bits.keep(std::span(segment.ref->live->words()).subspan(segment.collection->slotBegin / 64));
  return bits;
}

}  // namespace mds
