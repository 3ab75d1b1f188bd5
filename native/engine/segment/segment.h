// One immutable segment: documents in slots ordered by (collection, docid), an ordered dictionary of
// (collection, kind, name, term), postings, field lengths, doc values. Every part is one flat column without
// pointers (segment_columns.h), in memory or in the mapped chunks of a stored segment. Layout:
// docs/formats/segment.md. Built by SegmentWriter or opened from the index env; never changed afterwards. Any
// number of threads read it.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "base/bytes.h"
#include "base/status.h"
#include "segment/field_lengths.h"
#include "segment/segment_columns.h"
#include "segment/terms/dictionary.h"
#include "segment/terms/term_maxima.h"
#include "segment/terms/term_scan.h"
#include "segment/terms/term_signatures.h"
#include "segment/text_column.h"

namespace mds {

// Keeps the chunks of a stored segment valid. Its destructor runs when the last reader releases the segment.
class ChunkLease {
 public:
  ChunkLease() = default;
  ChunkLease(const ChunkLease&) = delete;
  ChunkLease& operator=(const ChunkLease&) = delete;
  virtual ~ChunkLease() = default;
  // Id of the key with which the chunks are sealed on disk; 0: the chunks are plaintext.
  [[nodiscard]] virtual uint8_t key_id() const noexcept { return 0; }
};

class Segment {
 public:
  // `serial`: process-wide, never reused. Identifies the segment to merges and in the index env.
  Segment(uint64_t serial, SegmentColumns columns);

  // Opens a stored segment: views of mapped or decrypted chunks, which `lease` keeps valid. `storedBytes` is
  // their size, `heapBytes` the part of it on the heap. Fails if a range in the directory exceeds its column.
  [[nodiscard]] static Result<std::shared_ptr<const Segment>> open(uint64_t serial, const SegmentViews& views, std::unique_ptr<ChunkLease> lease, uint64_t storedBytes,
                                                                   uint64_t heapBytes = 0);

  [[nodiscard]] uint64_t serial() const noexcept { return serial_; }
  [[nodiscard]] bool is_stored() const noexcept { return lease_ != nullptr; }
  // Only for a stored segment: ChunkLease::key_id.
  [[nodiscard]] uint8_t key_id() const noexcept { return lease_->key_id(); }
  [[nodiscard]] uint32_t slot_count() const noexcept { return static_cast<uint32_t>(views_.docids.size()); }
  [[nodiscard]] uint32_t term_count() const noexcept { return termCount_; }
  // Bytes on the heap, excluding mapped chunks.
  [[nodiscard]] uint64_t memory_bytes() const noexcept { return memoryBytes_ + signatures_.memory_bytes() + maxima_.memory_bytes(); }
  // Bytes of all columns, in memory and stored: the amount that a merge has to read.
  [[nodiscard]] uint64_t column_bytes() const noexcept { return columnBytes_; }
  // The columns of a segment in memory; for a stored segment, its directory only.
  [[nodiscard]] const SegmentColumns& columns() const noexcept { return columns_; }

  [[nodiscard]] std::span<const CollectionEntry> collections() const noexcept { return columns_.collections; }
  // Null if the segment has no documents of the collection.
  [[nodiscard]] const CollectionEntry* find_collection(uint32_t collection) const noexcept;
  [[nodiscard]] std::span<const SectionEntry> sections(const CollectionEntry& collection) const noexcept;
  [[nodiscard]] const SectionEntry* find_section(const CollectionEntry& collection, SectionKind kind, std::string_view name) const noexcept;
  [[nodiscard]] std::string_view name(const SectionEntry& section) const noexcept;
  // Index of a section of this segment among all of its sections.
  [[nodiscard]] uint32_t section_index(const SectionEntry& section) const noexcept { return static_cast<uint32_t>(&section - columns_.sections.data()); }
  // Returns the index of a term of the section, in O(log n).
  [[nodiscard]] std::optional<uint32_t> find_term(const SectionEntry& section, std::string_view term) const noexcept {
    return mds::find_term(dictionary_, section.termBegin, section.termEnd, term);
  }
  [[nodiscard]] std::optional<TermEntry> find_entry(const SectionEntry& section, std::string_view term) const noexcept {
    return mds::find_entry(dictionary_, section.termBegin, section.termEnd, term);
  }
  // The terms of the section in byte order.
  [[nodiscard]] DictionaryWalk terms(const SectionEntry& section) const noexcept { return {dictionary_, section.termBegin, section.termEnd}; }
  // Terms [begin, end) of one section; `begin` must be the first term of a block.
  [[nodiscard]] DictionaryWalk terms(uint32_t begin, uint32_t end) const noexcept { return {dictionary_, begin, end}; }
  [[nodiscard]] std::optional<TermEntry> find_entry(uint32_t begin, uint32_t end, std::string_view term) const noexcept {
    return mds::find_entry(dictionary_, begin, end, term);
  }
  // Returns the first term of the section's last dictionary block whose first term is <= `text`; the
  // section's first term if all are greater.
  [[nodiscard]] uint32_t block_for(const SectionEntry& section, std::string_view text) const noexcept {
    const uint32_t blockEnd = (section.termEnd + kDictionaryBlockTerms - 1) / kDictionaryBlockTerms;
    return mds::block_for(dictionary_, section.termBegin / kDictionaryBlockTerms, blockEnd, text) * kDictionaryBlockTerms;
  }
  // The same among the blocks of terms [begin, end), at least one; fast if the block is near.
  [[nodiscard]] uint32_t block_ahead(uint32_t begin, uint32_t end, std::string_view text) const noexcept {
    const uint32_t blockEnd = (end + kDictionaryBlockTerms - 1) / kDictionaryBlockTerms;
    return mds::block_ahead(dictionary_, begin / kDictionaryBlockTerms, blockEnd, text) * kDictionaryBlockTerms;
  }
  [[nodiscard]] std::shared_ptr<const TermMaxima> maxima(const SectionEntry& section) const { return maxima_.of(section, dictionary_); }
  // The text of a term of the section; empty if the dictionary is damaged.
  [[nodiscard]] std::string term(const SectionEntry& section, uint32_t term) const;
  [[nodiscard]] TermScan scan(const SectionEntry& section) const noexcept { return {dictionary_, section.termBegin, section.termEnd}; }
  // One signature per term of the section. Null if `stop` is set before they are complete.
  [[nodiscard]] Signatures signatures(const SectionEntry& section, StopSignal& stop) const { return signatures_.of(section, scan(section), stop); }
  [[nodiscard]] TermEntry term_entry(uint32_t term) const noexcept { return entry_of(dictionary_, term); }
  [[nodiscard]] uint32_t df(uint32_t term) const noexcept { return term_entry(term).df; }
  // Slot of a docid of the collection, dead or alive.
  [[nodiscard]] std::optional<uint32_t> find_docid(const CollectionEntry& collection, uint32_t docid) const noexcept;

  [[nodiscard]] FieldLengths lengths(const SectionEntry& section) const noexcept { return {section, views_.fieldLengths}; }
  [[nodiscard]] uint32_t docid(uint32_t slot) const noexcept { return views_.docids[slot]; }
  [[nodiscard]] uint64_t lsn(uint32_t slot) const noexcept { return views_.lsns[slot]; }
  [[nodiscard]] int64_t added_at(uint32_t slot) const noexcept { return views_.addedAt[slot]; }
  [[nodiscard]] int64_t updated_at(uint32_t slot) const noexcept { return views_.updatedAt[slot]; }
  // The column of kAddedAt or kUpdatedAt.
  [[nodiscard]] const ColumnView<int64_t>& times(SlotOrder order) const noexcept { return order == SlotOrder::kAddedAt ? views_.addedAt : views_.updatedAt; }
  [[nodiscard]] std::string_view key(uint32_t slot) const noexcept { return as_text(keys_[slot]); }
  [[nodiscard]] std::string_view lang(uint32_t slot) const noexcept { return as_text(langs_[slot]); }
  // The collection's slots in ascending order of the values. In a damaged segment they may be any numbers: a
  // caller must check that a slot belongs to the collection before using it.
  [[nodiscard]] ColumnView<uint32_t> ordered_slots(SlotOrder order, const CollectionEntry& collection) const noexcept;
  // Number of documents of the collection in this segment with a smaller key. Used to compare keys of one
  // collection without reading them.
  [[nodiscard]] uint32_t key_rank(uint32_t slot) const noexcept { return views_.keyRanks[slot]; }
  // Bits of a metadata value (or kEveryTerm), from the word of the collection's first slot on; empty if the
  // value is not dense enough to have bits.
  [[nodiscard]] ColumnView<uint64_t> bit_set(const SectionEntry& section, uint32_t term) const noexcept;

  [[nodiscard]] const ColumnView<BlockEntry>& blocks() const noexcept { return views_.blocks; }
  [[nodiscard]] const ColumnView<uint8_t>& postings() const noexcept { return views_.postings; }
  [[nodiscard]] const ColumnView<uint8_t>& positions() const noexcept { return views_.positions; }

 private:
  Segment(uint64_t serial, const SegmentViews& views, std::unique_ptr<ChunkLease> lease);

  void index_columns();
  [[nodiscard]] Status check_directory() const;
  [[nodiscard]] Status check_section(const SectionEntry& section, const CollectionEntry& owner) const;

  uint64_t serial_;
  std::unique_ptr<ChunkLease> lease_;
  // All columns of a segment in memory. For a stored segment, only the directory (collections, sections,
  // names), which is small and read as spans.
  SegmentColumns columns_;
  SegmentViews views_;
  TextColumn dictionary_;
  TextColumn keys_;
  TextColumn langs_;
  mutable SignatureCache signatures_;
  mutable MaximaCache maxima_;
  uint32_t termCount_ = 0;
  uint64_t memoryBytes_ = 0;
  uint64_t columnBytes_ = 0;
};

}  // namespace mds
