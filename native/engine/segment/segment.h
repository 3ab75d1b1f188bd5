// One immutable segment: documents in slots ordered by (collection, docid), an ordered dictionary of (collection, kind, name, term), postings, field lengths, doc values.
// Every part is one flat column without pointers, so that the same columns can lie in a mapped file; layout: docs/formats/segment.md.
// Made by SegmentWriter, never changed afterwards; any number of threads read it.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "segment/impacts.h"

namespace mds {

// No slot, and the docid of a cursor that has passed its last posting. Slots are below it.
inline constexpr uint32_t kEndOfList = UINT32_MAX;

enum class SectionKind : uint32_t { kText = 0, kMeta = 1 };

// Documents of one collection: slots [slotBegin, slotEnd), sections [sectionBegin, sectionEnd). Ordered by collection.
struct CollectionEntry {
  uint32_t collection;
  uint32_t slotBegin;
  uint32_t slotEnd;
  uint32_t sectionBegin;
  uint32_t sectionEnd;
};

// One field (kText) or one metadata key (kMeta) of one collection: its terms or values are terms [termBegin, termEnd). Ordered by (collection, kind, name).
struct SectionEntry {
  SectionKind kind;
  uint32_t slotBegin;  // of the collection
  uint32_t slotEnd;
  uint32_t nameBegin;
  uint32_t nameEnd;
  uint32_t termBegin;
  uint32_t termEnd;
  uint32_t documents;      // with a length above 0; text only
  uint64_t totalLength;    // sum of the field lengths
  uint64_t lengthsBegin;   // into `fieldLengths`
  uint32_t lengthsSparse;  // 0: one length per slot of the collection; 1: `documents` slots, then their `documents` lengths
  uint32_t padding;
};

// One term's postings. Its bytes end where the next entry's begin; the column ends with a sentinel.
struct TermEntry {
  uint64_t postingsBegin;
  uint64_t positionsBegin;
  uint32_t df;
  uint32_t blockBegin;  // into `blocks`; lists of a single block have none there
};

// One block of a list of more than kBlockPostings postings. Offsets count from the beginnings in its TermEntry.
struct BlockEntry {
  uint32_t slotLast;
  uint32_t postingsOffset;
  uint32_t positionsOffset;
  Impacts impacts;  // text only
};

// The documents of one dense metadata value, or of all values of a key, as bits beside the postings. Ordered by (section, term).
struct BitSetEntry {
  uint32_t section;    // index in `sections`
  uint32_t term;       // kEveryTerm: the documents that have the key at all
  uint64_t wordBegin;  // into `bitWords`: words [slotBegin / 64, (slotEnd + 63) / 64) of the collection, so that they line up with the live bits
};

inline constexpr uint32_t kEveryTerm = UINT32_MAX;

// Words that hold the bits of slots [slotBegin, slotEnd), the first and the last shared with their neighbours.
[[nodiscard]] constexpr size_t bit_set_words(uint32_t slotBegin, uint32_t slotEnd) noexcept { return (size_t{slotEnd} + 63) / 64 - slotBegin / 64; }

static_assert(sizeof(CollectionEntry) == 20 && sizeof(SectionEntry) == 56 && sizeof(TermEntry) == 24 && sizeof(BlockEntry) == 44 && sizeof(BitSetEntry) == 16);

// A permutation of the slots of each collection: by the value, then key, lang (bytes) and docid, all ascending.
enum class SlotOrder : uint8_t { kAddedAt, kUpdatedAt, kKey };

// The columns as they are built and owned.
struct SegmentColumns {
  std::vector<CollectionEntry> collections;
  std::vector<SectionEntry> sections;
  std::vector<char> names;
  std::vector<uint32_t> termEnds;
  std::vector<char> termBytes;
  std::vector<TermEntry> terms;
  std::vector<BlockEntry> blocks;
  std::vector<uint8_t> postings;
  std::vector<uint8_t> positions;
  std::vector<uint32_t> fieldLengths;
  std::vector<uint32_t> docids;
  std::vector<uint64_t> lsns;
  std::vector<int64_t> addedAt;
  std::vector<int64_t> updatedAt;
  std::vector<uint32_t> keyEnds;
  std::vector<char> keyBytes;
  std::vector<uint32_t> langEnds;
  std::vector<char> langBytes;
  std::vector<uint32_t> byAddedAt;
  std::vector<uint32_t> byUpdatedAt;
  std::vector<uint32_t> byKey;
  std::vector<uint32_t> keyRanks;
  std::vector<BitSetEntry> bitSets;
  std::vector<uint64_t> bitWords;
};

// Field lengths of one section. Copied by value; valid as long as the segment.
class FieldLengths {
 public:
  FieldLengths(const SectionEntry& section, std::span<const uint32_t> column) noexcept;

  // Calls visit(slot, length) for every document that has the field, by slot.
  template <class Visit>
  void for_each(Visit visit) const {
    for (uint32_t index = 0; index < sparseSlots_.size(); ++index) visit(sparseSlots_[index], lengths_[index]);
    if (!sparseSlots_.empty()) return;
    for (uint32_t index = 0; index < lengths_.size(); ++index) {
      if (lengths_[index] > 0) visit(slotBegin_ + index, lengths_[index]);
    }
  }

  // at() of many slots.
  void gather(std::span<const uint32_t> slots, uint32_t* out) const noexcept;
  // Length of the field in the document at `slot` (of the section's collection), 0 where it has none.
  [[nodiscard]] uint32_t at(uint32_t slot) const noexcept { return sparseSlots_.empty() ? lengths_[slot - slotBegin_] : sparse_at(slot); }

 private:
  [[nodiscard]] uint32_t sparse_at(uint32_t slot) const noexcept;

  uint32_t slotBegin_;
  std::span<const uint32_t> lengths_;
  std::span<const uint32_t> sparseSlots_;
};

class Segment {
 public:
  // `serial`: process-wide, never reused; names the segment in the bookkeeping of merges.
  Segment(uint64_t serial, SegmentColumns columns) noexcept;

  [[nodiscard]] uint64_t serial() const noexcept { return serial_; }
  [[nodiscard]] uint32_t slot_count() const noexcept { return static_cast<uint32_t>(columns_.docids.size()); }
  [[nodiscard]] uint32_t term_count() const noexcept { return static_cast<uint32_t>(columns_.termEnds.size()); }
  [[nodiscard]] uint64_t memory_bytes() const noexcept { return memoryBytes_; }

  [[nodiscard]] std::span<const CollectionEntry> collections() const noexcept { return columns_.collections; }
  // Null where the segment holds no document of the collection.
  [[nodiscard]] const CollectionEntry* find_collection(uint32_t collection) const noexcept;
  [[nodiscard]] std::span<const SectionEntry> sections(const CollectionEntry& collection) const noexcept;
  [[nodiscard]] const SectionEntry* find_section(const CollectionEntry& collection, SectionKind kind, std::string_view name) const noexcept;
  [[nodiscard]] std::string_view name(const SectionEntry& section) const noexcept;
  // Index of a term of the section, O(log n).
  [[nodiscard]] std::optional<uint32_t> find_term(const SectionEntry& section, std::string_view term) const noexcept;
  [[nodiscard]] std::string_view term(uint32_t index) const noexcept { return slice(columns_.termEnds, columns_.termBytes, index); }
  [[nodiscard]] uint32_t df(uint32_t term) const noexcept { return columns_.terms[term].df; }
  // Slot of a docid of the collection, dead or alive.
  [[nodiscard]] std::optional<uint32_t> find_docid(const CollectionEntry& collection, uint32_t docid) const noexcept;

  [[nodiscard]] FieldLengths lengths(const SectionEntry& section) const noexcept { return {section, columns_.fieldLengths}; }
  [[nodiscard]] uint32_t docid(uint32_t slot) const noexcept { return columns_.docids[slot]; }
  [[nodiscard]] uint64_t lsn(uint32_t slot) const noexcept { return columns_.lsns[slot]; }
  [[nodiscard]] int64_t added_at(uint32_t slot) const noexcept { return columns_.addedAt[slot]; }
  [[nodiscard]] int64_t updated_at(uint32_t slot) const noexcept { return columns_.updatedAt[slot]; }
  [[nodiscard]] std::string_view key(uint32_t slot) const noexcept { return slice(columns_.keyEnds, columns_.keyBytes, slot); }
  [[nodiscard]] std::string_view lang(uint32_t slot) const noexcept { return slice(columns_.langEnds, columns_.langBytes, slot); }
  // The collection's slots in ascending order.
  [[nodiscard]] std::span<const uint32_t> ordered_slots(SlotOrder order, const CollectionEntry& collection) const noexcept;
  // How many documents of the collection in this segment have a smaller key: compares keys of one collection without a look at them.
  [[nodiscard]] uint32_t key_rank(uint32_t slot) const noexcept { return columns_.keyRanks[slot]; }
  // Bits of a metadata value (or kEveryTerm), from the word of the collection's first slot on; empty where the writer found them not worth it.
  [[nodiscard]] std::span<const uint64_t> bit_set(const SectionEntry& section, uint32_t term) const noexcept;

  [[nodiscard]] const TermEntry* term_entries() const noexcept { return columns_.terms.data(); }
  [[nodiscard]] std::span<const BlockEntry> blocks() const noexcept { return columns_.blocks; }
  [[nodiscard]] Bytes postings() const noexcept { return columns_.postings; }
  [[nodiscard]] Bytes positions() const noexcept { return columns_.positions; }

 private:
  [[nodiscard]] static std::string_view slice(const std::vector<uint32_t>& ends, const std::vector<char>& bytes, uint32_t index) noexcept {
    const uint32_t begin = index == 0 ? 0 : ends[index - 1];
    return {bytes.data() + begin, size_t{ends[index]} - begin};
  }

  uint64_t serial_;
  SegmentColumns columns_;
  uint64_t memoryBytes_ = 0;
};

}  // namespace mds
