// See filter_bits.h. Dense values have their bits in the segment; the postings of the others are read into bits, at most a thirty-second of the documents each.
#include "query/filter_bits.h"

#include <algorithm>
#include <bit>

#include "segment/posting_cursor.h"

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

void add_term(const Segment& segment, const SectionEntry& section, uint32_t term, SlotBits& bits, StopSignal& stop) {
  const ColumnView<uint64_t> stored = segment.bit_set(section, term);
  if (!stored.empty()) return bits.add(stored);
  add_postings(segment, section, segment.term_entry(term), bits, stop);
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
  const ColumnView<uint64_t> stored = columns.bit_set(*section, kEveryTerm);
  if (!stored.empty()) {
    bits.add(stored);
    return bits;
  }
  for (DictionaryWalk walk = columns.terms(*section); walk.next() && !stop.stopped();) add_postings(columns, *section, walk.entry(), bits, stop);
  return bits;
}

}  // namespace

void SlotBits::add(const ColumnView<uint64_t>& words) noexcept {
  const size_t count = std::min(words.size(), words_.size());
  for (size_t at = 0; at < count;) {
    for (const uint64_t word : words.run_at(at).first(std::min(words.run_at(at).size(), count - at))) words_[at++] |= word;
  }
  // In a damaged segment anything may stand outside of the collection.
  words_.front() &= ~uint64_t{0} << (slotBegin_ % 64);
  if (slotEnd_ % 64 != 0) words_.back() &= (uint64_t{1} << (slotEnd_ % 64)) - 1;
}

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
