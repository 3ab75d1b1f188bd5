// See segment.h: lookups by binary search over the ordered columns.
#include "segment/segment.h"

#include <algorithm>
#include <tuple>

namespace mds {
namespace {

template <class... T>
uint64_t column_bytes(const std::vector<T>&... columns) noexcept {
  return (uint64_t{0} + ... + (columns.capacity() * sizeof(T)));
}

}  // namespace

FieldLengths::FieldLengths(const SectionEntry& section, std::span<const uint32_t> column) noexcept : slotBegin_(section.slotBegin) {
  const auto begin = static_cast<size_t>(section.lengthsBegin);
  if (section.lengthsSparse != 0) {
    sparseSlots_ = column.subspan(begin, section.documents);
    lengths_ = column.subspan(begin + section.documents, section.documents);
  } else {
    lengths_ = column.subspan(begin, size_t{section.slotEnd} - section.slotBegin);
  }
}

void FieldLengths::gather(std::span<const uint32_t> slots, uint32_t* out) const noexcept {
  if (!sparseSlots_.empty()) {
    for (size_t index = 0; index < slots.size(); ++index) out[index] = sparse_at(slots[index]);
    return;
  }
  const uint32_t* lengths = lengths_.data() - slotBegin_;
  for (size_t index = 0; index < slots.size(); ++index) out[index] = lengths[slots[index]];
}

uint32_t FieldLengths::sparse_at(uint32_t slot) const noexcept {
  const auto found = std::lower_bound(sparseSlots_.begin(), sparseSlots_.end(), slot);
  if (found == sparseSlots_.end() || *found != slot) return 0;
  return lengths_[static_cast<size_t>(found - sparseSlots_.begin())];
}

Segment::Segment(uint64_t serial, SegmentColumns columns) noexcept : serial_(serial), columns_(std::move(columns)) {
  const SegmentColumns& c = columns_;
  memoryBytes_ = sizeof(Segment) + column_bytes(c.collections, c.sections, c.names, c.termEnds, c.termBytes, c.terms, c.blocks, c.postings, c.positions, c.fieldLengths,
                                                c.docids, c.lsns, c.addedAt, c.updatedAt, c.keyEnds, c.keyBytes, c.langEnds, c.langBytes, c.byAddedAt, c.byUpdatedAt,
                                                c.byKey, c.keyRanks, c.bitSets, c.bitWords);
}

const CollectionEntry* Segment::find_collection(uint32_t collection) const noexcept {
  const auto& all = columns_.collections;
  const auto found = std::lower_bound(all.begin(), all.end(), collection, [](const CollectionEntry& entry, uint32_t id) { return entry.collection < id; });
  return found != all.end() && found->collection == collection ? &*found : nullptr;
}

std::span<const SectionEntry> Segment::sections(const CollectionEntry& collection) const noexcept {
  return std::span(columns_.sections).subspan(collection.sectionBegin, collection.sectionEnd - collection.sectionBegin);
}

std::string_view Segment::name(const SectionEntry& section) const noexcept {
  return {columns_.names.data() + section.nameBegin, size_t{section.nameEnd} - section.nameBegin};
}

const SectionEntry* Segment::find_section(const CollectionEntry& collection, SectionKind kind, std::string_view wanted) const noexcept {
  const std::span<const SectionEntry> all = sections(collection);
  const auto before = [this](const SectionEntry& section, const std::pair<SectionKind, std::string_view>& target) {
    return section.kind != target.first ? section.kind < target.first : name(section) < target.second;
  };
  const auto found = std::lower_bound(all.begin(), all.end(), std::pair(kind, wanted), before);
  return found != all.end() && found->kind == kind && name(*found) == wanted ? &*found : nullptr;
}

std::optional<uint32_t> Segment::find_term(const SectionEntry& section, std::string_view wanted) const noexcept {
  uint32_t begin = section.termBegin;
  uint32_t end = section.termEnd;
  while (begin < end) {
    const uint32_t middle = begin + (end - begin) / 2;
    const int order = term(middle).compare(wanted);
    if (order == 0) return middle;
    if (order < 0) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return std::nullopt;
}

std::optional<uint32_t> Segment::find_docid(const CollectionEntry& collection, uint32_t docid) const noexcept {
  const auto begin = columns_.docids.begin() + collection.slotBegin;
  const auto end = columns_.docids.begin() + collection.slotEnd;
  // Most lookups are for a document that is newer than all of the segment.
  if (docid > *(end - 1)) return std::nullopt;
  const auto found = std::lower_bound(begin, end, docid);
  if (*found != docid) return std::nullopt;
  return static_cast<uint32_t>(found - columns_.docids.begin());
}

std::span<const uint32_t> Segment::ordered_slots(SlotOrder order, const CollectionEntry& collection) const noexcept {
  const std::vector<uint32_t>& column = order == SlotOrder::kAddedAt ? columns_.byAddedAt : order == SlotOrder::kUpdatedAt ? columns_.byUpdatedAt : columns_.byKey;
  return std::span(column).subspan(collection.slotBegin, collection.slotEnd - collection.slotBegin);
}

std::span<const uint64_t> Segment::bit_set(const SectionEntry& section, uint32_t term) const noexcept {
  const auto index = static_cast<uint32_t>(&section - columns_.sections.data());
  const auto found =
      std::lower_bound(columns_.bitSets.begin(), columns_.bitSets.end(), std::pair(index, term),
                       [](const BitSetEntry& entry, const std::pair<uint32_t, uint32_t>& target) { return std::pair(entry.section, entry.term) < target; });
  if (found == columns_.bitSets.end() || found->section != index || found->term != term) return {};
  const size_t words = bit_set_words(section.slotBegin, section.slotEnd);
  if (found->wordBegin > columns_.bitWords.size() || words > columns_.bitWords.size() - found->wordBegin) return {};
  return std::span(columns_.bitWords).subspan(static_cast<size_t>(found->wordBegin), words);
}

}  // namespace mds
