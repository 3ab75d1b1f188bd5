// Writes the columns of one segment from parts that arrive in their final order: all documents by
// (collection, docid), then the sections by (collection, kind, name); in each section its terms by bytes, and
// in each term its postings by slot. Used by the segment builder (a batch) and the segment merger. Runs on
// one thread. Layout: docs/formats/segment.md.
#pragma once

#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "segment/segment.h"
#include "segment/slot_orders.h"
#include "segment/terms/dictionary.h"

namespace mds {

struct DocumentValues {
  uint32_t collection;
  uint32_t docid;
  uint64_t lsn;
  int64_t addedAt;
  int64_t updatedAt;
  std::string_view key;
  std::string_view lang;
};

// (slot, field length above 0).
using SlotLength = std::pair<uint32_t, uint32_t>;

class SegmentWriter {
 public:
  // Returns the slot. Documents must be strictly ascending by (collection, docid).
  uint32_t add_document(const DocumentValues& document);

  // `lengths` is ascending by slot; for text sections only, empty for metadata.
  void begin_section(uint32_t collection, SectionKind kind, std::string_view name, std::span<const SlotLength> lengths);
  void begin_term(std::string_view term);
  // Slots must be strictly ascending. A text posting is followed by `tf` calls of add_position. tf is at
  // least 1; in metadata it is 1.
  void add_posting(uint32_t slot, uint32_t tf);
  // Adds a position to the last posting; positions must be strictly ascending.
  void add_position(uint32_t position);
  // A term without postings and a section without terms are not written.
  void end_term();
  void end_section();

  // Whether a document of the collection has been added. Required before its sections.
  [[nodiscard]] bool has_collection(uint32_t collection) const noexcept;
  [[nodiscard]] uint32_t document_count() const noexcept { return static_cast<uint32_t>(columns_.docids.size()); }
  // `seeds`: known initial orders, if any.
  [[nodiscard]] std::shared_ptr<const Segment> finish(uint64_t serial, OrderSeeds seeds = {});

 private:
  void flush_block();
  // Also writes the metadata postings from `firstPosting` of the open section on as bits if they are dense.
  void write_bit_set(uint32_t term, size_t firstPosting);
  // Impacts of the current block, whose section must be text.
  [[nodiscard]] Impacts block_impacts();
  // Returns the offset of the block's positions in their list.
  [[nodiscard]] uint32_t pack_positions();
  void write_lengths(SectionEntry& section, std::span<const SlotLength> lengths);

  SegmentColumns columns_;
  // Field length by slot of the open section. All 0 between sections, so that the cost of a section depends
  // only on its own documents.
  std::vector<uint32_t> lengthBySlot_;
  std::vector<uint32_t> sectionSlots_;
  std::vector<uint32_t> metaSlots_;  // postings of the open metadata section, term after term
  size_t termMetaBegin_ = 0;         // begin of the open term in metaSlots_
  size_t owner_ = 0;                 // index of the open section's collection
  std::string_view term_;
  DictionaryWriter dictionary_;
  TermEntry openTerm_;
  uint32_t slotBefore_ = 0;
  uint32_t positionNext_ = 0;
  std::vector<BlockEntry> openBlocks_;
  std::vector<uint32_t> blockSlots_;
  std::vector<uint32_t> blockTfs_;
  std::vector<uint32_t> blockPositions_;
  std::vector<uint32_t> scratch_;
};

}  // namespace mds
