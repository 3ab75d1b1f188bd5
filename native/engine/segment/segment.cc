// See segment.h: opening, lookups by binary search over the ordered columns, and the validation of a stored
// directory.
#include "segment/segment.h"

#include <algorithm>
#include <array>
#include <string>
#include <tuple>
#include <utility>

#include "base/limits.h"

namespace mds {
namespace {

Status damaged(const char* what) { return Status::corrupt(std::string("stored segment: ") + what); }

}  // namespace

Segment::Segment(uint64_t serial, SegmentColumns columns) : serial_(serial), columns_(std::move(columns)) {
  zip_columns(columns_, views_, [this](const auto& column, auto& view, ColumnStart) {
    using View = std::remove_reference_t<decltype(view)>;
    view = View(std::span(column));
    memoryBytes_ += column.capacity() * sizeof(column[0]);
  });
  index_columns();
  memoryBytes_ += sizeof(Segment);
}

Segment::Segment(uint64_t serial, const SegmentViews& views, std::unique_ptr<ChunkLease> lease) : serial_(serial), lease_(std::move(lease)), views_(views) {
  columns_.collections = views_.collections.copy();
  columns_.sections = views_.sections.copy();
  columns_.names = views_.names.copy();
  index_columns();
  memoryBytes_ = sizeof(Segment) + columns_.collections.size() * sizeof(CollectionEntry) + columns_.sections.size() * sizeof(SectionEntry) + columns_.names.size() +
                 dictionary_.seam_bytes() + keys_.seam_bytes() + langs_.seam_bytes();
}

Result<std::shared_ptr<const Segment>> Segment::open(uint64_t serial, const SegmentViews& views, std::unique_ptr<ChunkLease> lease, uint64_t storedBytes,
                                                     uint64_t heapBytes) {
  const std::shared_ptr<Segment> segment(new Segment(serial, views, std::move(lease)));
  segment->columnBytes_ = storedBytes;
  segment->memoryBytes_ += heapBytes;
  Status status = segment->check_directory();
  if (!status.ok()) return status;
  return std::shared_ptr<const Segment>(segment);
}

void Segment::index_columns() {
  dictionary_ = TextColumn(views_.dictionaryEnds, views_.dictionary);
  keys_ = TextColumn(views_.keyEnds, views_.keyBytes);
  langs_ = TextColumn(views_.langEnds, views_.langBytes);
  for (const SectionEntry& section : columns_.sections) termCount_ += section.termEnd - section.termBegin;
  columnBytes_ = 0;
  zip_columns(columns_, views_, [this](const auto&, const auto& view, ColumnStart) { columnBytes_ += view.size() * sizeof(view[0]); });
}

Status Segment::check_directory() const {
  const SegmentViews& v = views_;
  const size_t slots = v.docids.size();
  if (slots == 0 || slots >= kEndOfList) return damaged("no documents, or too many");
  const std::array perSlot = {v.lsns.size(),      v.addedAt.size(),     v.updatedAt.size(), v.keyEnds.size(), v.langEnds.size(),
                              v.byAddedAt.size(), v.byUpdatedAt.size(), v.byKey.size(),     v.keyRanks.size()};
  if (std::any_of(perSlot.begin(), perSlot.end(), [slots](size_t size) { return size != slots; })) return damaged("columns of documents differ in size");
  uint32_t slot = 0;
  uint32_t sectionNext = 0;
  uint64_t collectionNext = 0;
  for (const CollectionEntry& entry : columns_.collections) {
    if (entry.slotBegin != slot || entry.slotEnd <= slot || entry.slotEnd > slots || entry.collection < collectionNext)
      return damaged("a collection's slots are out of order");
    if (entry.sectionBegin > entry.sectionEnd || entry.sectionEnd > columns_.sections.size()) return damaged("a collection's sections leave the directory");
    if (entry.sectionBegin != entry.sectionEnd && entry.sectionBegin != sectionNext) return damaged("a collection's sections are out of order");
    if (entry.sectionBegin != entry.sectionEnd) sectionNext = entry.sectionEnd;
    for (const SectionEntry& section : sections(entry)) {
      Status status = check_section(section, entry);
      if (!status.ok()) return status;
    }
    slot = entry.slotEnd;
    collectionNext = uint64_t{entry.collection} + 1;
  }
  return slot == slots ? Status() : damaged("documents without a collection");
}

Status Segment::check_section(const SectionEntry& section, const CollectionEntry& owner) const {
  if (section.kind != SectionKind::kText && section.kind != SectionKind::kMeta) return damaged("unknown kind of section");
  if (section.slotBegin != owner.slotBegin || section.slotEnd != owner.slotEnd) return damaged("a section's slots are not its collection's");
  if (section.nameBegin > section.nameEnd || section.nameEnd > columns_.names.size()) return damaged("a section's name leaves the names");
  const uint64_t blocks = (uint64_t{section.termEnd} + kDictionaryBlockTerms - 1) / kDictionaryBlockTerms;
  if (section.termBegin % kDictionaryBlockTerms != 0 || section.termBegin >= section.termEnd || blocks > dictionary_.size())
    return damaged("a section's terms leave the dictionary");
  if (section.lengthBytes != 1 && section.lengthBytes != 2 && section.lengthBytes != 4) return damaged("unknown size of field lengths");
  const uint64_t slots = section.slotEnd - section.slotBegin;
  if (section.documents > slots || section.lengthsBegin % 4 != 0 || section.lengthsBegin > views_.fieldLengths.size())
    return damaged("a section's lengths leave their column");
  const uint64_t bytes = section.lengthsSparse != 0 ? section.documents * (sizeof(uint32_t) + section.lengthBytes) : slots * section.lengthBytes;
  if (bytes > views_.fieldLengths.size() - section.lengthsBegin) return damaged("a section's lengths leave their column");
  return {};
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

std::string Segment::term(const SectionEntry& section, uint32_t term) const {
  DictionaryWalk walk(dictionary_, term / kDictionaryBlockTerms * kDictionaryBlockTerms, section.termEnd);
  while (walk.next()) {
    if (walk.index() == term) return std::string(walk.term());
  }
  return {};
}

std::optional<uint32_t> Segment::find_docid(const CollectionEntry& collection, uint32_t docid) const noexcept {
  // Most lookups are for a document whose docid is above all docids of the collection in this segment.
  if (docid > views_.docids[collection.slotEnd - 1]) return std::nullopt;
  uint32_t begin = collection.slotBegin;
  uint32_t end = collection.slotEnd;
  while (begin < end) {
    const uint32_t middle = begin + (end - begin) / 2;
    const uint32_t found = views_.docids[middle];
    if (found == docid) return middle;
    if (found < docid) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  return std::nullopt;
}

ColumnView<uint32_t> Segment::ordered_slots(SlotOrder order, const CollectionEntry& collection) const noexcept {
  const ColumnView<uint32_t>& column = order == SlotOrder::kAddedAt ? views_.byAddedAt : order == SlotOrder::kUpdatedAt ? views_.byUpdatedAt : views_.byKey;
  return column.subview(collection.slotBegin, collection.slotEnd - collection.slotBegin);
}

ColumnView<uint64_t> Segment::bit_set(const SectionEntry& section, uint32_t term) const noexcept {
  const std::pair target(section_index(section), term);
  const ColumnView<BitSetEntry>& all = views_.bitSets;
  size_t begin = 0;
  size_t end = all.size();
  while (begin < end) {
    const size_t middle = begin + (end - begin) / 2;
    if (std::pair(all[middle].section, all[middle].term) < target) {
      begin = middle + 1;
    } else {
      end = middle;
    }
  }
  if (begin == all.size() || std::pair(all[begin].section, all[begin].term) != target) return {};
  const size_t words = bit_set_words(section.slotBegin, section.slotEnd);
  const ColumnView<uint64_t> found = views_.bitWords.subview(static_cast<size_t>(all[begin].wordBegin), words);
  return found.size() == words ? found : ColumnView<uint64_t>();
}

}  // namespace mds
