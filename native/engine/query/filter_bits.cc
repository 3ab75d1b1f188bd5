// See filter_bits.h. Dense values have their bits in the segment; the postings of the others are read into bits, at most a thirty-second of the documents each.
#include "query/filter_bits.h"

#include <bit>

#include "segment/posting_cursor.h"

namespace mds {
namespace {

void add_term(const Segment& segment, const SectionEntry& section, uint32_t term, SlotBits& bits, StopSignal& stop) {
  const std::span<const uint64_t> stored = segment.bit_set(section, term);
  if (!stored.empty()) return bits.add(stored);
  if (stop.after(segment.df(term))) return;
  PostingCursor cursor(segment, section, term);
  while (cursor.doc() != kEndOfList) {
    const std::span<const uint32_t> slots = cursor.block_slots();
    for (const uint32_t slot : slots) {
      if (slot < section.slotEnd) bits.set(slot);  // a damaged list may say anything
    }
    cursor.skip(static_cast<uint32_t>(slots.size()));
  }
}

// What one filter lets pass, dead documents included.
SlotBits passing(const ResolvedSegment& segment, const MetaFilter& filter, StopSignal& stop) {
  SlotBits bits(*segment.collection);
  const Segment& columns = *segment.ref->segment;
  const SectionEntry* section = columns.find_section(*segment.collection, SectionKind::kMeta, filter.key);
  if (section == nullptr) return bits;
  for (const std::string_view value : filter.values) {
    const std::optional<uint32_t> term = columns.find_term(*section, value);
    if (term) add_term(columns, *section, *term, bits, stop);
  }
  if (!filter.values.empty()) return bits;
  const std::span<const uint64_t> stored = columns.bit_set(*section, kEveryTerm);
  if (!stored.empty()) {
    bits.add(stored);
    return bits;
  }
  for (uint32_t term = section->termBegin; term < section->termEnd && !stop.stopped(); ++term) add_term(columns, *section, term, bits, stop);
  return bits;
}

}  // namespace

uint32_t SlotBits::count() const noexcept {
  uint32_t bits = 0;
  for (const uint64_t word : words_) bits += static_cast<uint32_t>(std::popcount(word));
  return bits;
}

SlotBits filter_bits(const ResolvedSegment& segment, const std::vector<MetaFilter>& filters, StopSignal& stop) {
  SlotBits bits = passing(segment, filters.front(), stop);
  for (size_t index = 1; index < filters.size() && !stop.stopped(); ++index) bits.keep(passing(segment, filters[index], stop).words());
  if (segment.ref->live != nullptr) bits.keep(std::span(segment.ref->live->words()).subspan(segment.collection->slotBegin / 64));
  return bits;
}

}  // namespace mds
