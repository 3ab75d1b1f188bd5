// See segment_writer.h.
#include "segment/segment_writer.h"

#include <algorithm>

#include "base/bit_packing.h"
#include "base/limits.h"

namespace mds {
namespace {

uint32_t size32(size_t size) noexcept { return static_cast<uint32_t>(size); }

void append(std::vector<uint8_t>& bytes, std::vector<uint32_t>& ends, std::string_view text) {
  bytes.insert(bytes.end(), text.begin(), text.end());
  ends.push_back(size32(bytes.size()));
}

template <class T>
void append_bytes(std::vector<uint8_t>& out, T value, size_t bytes) {
  for (size_t index = 0; index < bytes; ++index) out.push_back(static_cast<uint8_t>(value >> (8 * index)));
}

// Pads the column to a new chunk if `bytes` would straddle two chunks. A block larger than a chunk also
// begins a new one.
void skip_to_fit(std::vector<uint8_t>& column, size_t bytes) {
  const size_t used = column.size() % kChunkBytes;
  if (used + bytes > kChunkBytes) column.resize(column.size() + kChunkBytes - used);
}

}  // namespace

uint32_t SegmentWriter::add_document(const DocumentValues& document) {
  const uint32_t slot = document_count();
  if (columns_.collections.empty() || columns_.collections.back().collection != document.collection) {
    columns_.collections.push_back({document.collection, slot, slot, 0, 0});
  }
  columns_.collections.back().slotEnd = slot + 1;
  columns_.docids.push_back(document.docid);
  columns_.lsns.push_back(document.lsn);
  columns_.addedAt.push_back(document.addedAt);
  columns_.updatedAt.push_back(document.updatedAt);
  append(columns_.keyBytes, columns_.keyEnds, document.key);
  append(columns_.langBytes, columns_.langEnds, document.lang);
  lengthBySlot_.push_back(0);
  return slot;
}

bool SegmentWriter::has_collection(uint32_t collection) const noexcept {
  return std::binary_search(columns_.collections.begin(), columns_.collections.end(), CollectionEntry{collection, 0, 0, 0, 0},
                            [](const CollectionEntry& a, const CollectionEntry& b) { return a.collection < b.collection; });
}

void SegmentWriter::begin_section(uint32_t collection, SectionKind kind, std::string_view name, std::span<const SlotLength> lengths) {
  const auto owner = std::lower_bound(columns_.collections.begin(), columns_.collections.end(), collection,
                                      [](const CollectionEntry& entry, uint32_t id) { return entry.collection < id; });
  owner_ = static_cast<size_t>(owner - columns_.collections.begin());
  if (owner->sectionEnd == 0) owner->sectionBegin = owner->sectionEnd = size32(columns_.sections.size());
  SectionEntry section{};
  section.kind = kind;
  section.slotBegin = owner->slotBegin;
  section.slotEnd = owner->slotEnd;
  section.nameBegin = size32(columns_.names.size());
  columns_.names.insert(columns_.names.end(), name.begin(), name.end());
  section.nameEnd = size32(columns_.names.size());
  section.termBegin = section.termEnd = dictionary_.begin_section(columns_);
  write_lengths(section, lengths);
  columns_.sections.push_back(section);
  owner->sectionEnd = size32(columns_.sections.size());
}

void SegmentWriter::write_lengths(SectionEntry& section, std::span<const SlotLength> lengths) {
  auto& column = columns_.fieldLengths;
  column.resize(pad4(column.size()));
  section.documents = size32(lengths.size());
  section.lengthsBegin = column.size();
  section.lengthBytes = 1;
  if (lengths.empty()) {
    section.lengthsSparse = 1;
    return;
  }
  uint32_t longest = 0;
  for (const auto& [slot, length] : lengths) {
    section.totalLength += length;
    longest = std::max(longest, length);
    lengthBySlot_[slot] = length;
    sectionSlots_.push_back(slot);
  }
  const uint32_t slots = section.slotEnd - section.slotBegin;
  const uint16_t bytes = longest < 0x100 ? 1 : longest < 0x10000 ? 2 : 4;
  section.lengthBytes = bytes;
  // A sparse entry also stores its slot. Choosing the smaller form avoids a size of (fields x documents) for
  // many rare fields.
  section.lengthsSparse = lengths.size() * (sizeof(uint32_t) + bytes) < size_t{slots} * bytes ? 1 : 0;
  if (section.lengthsSparse != 0) {
    for (const auto& [slot, length] : lengths) append_bytes(column, slot, sizeof slot);
    for (const auto& [slot, length] : lengths) append_bytes(column, length, bytes);
  } else {
    for (uint32_t slot = section.slotBegin; slot < section.slotEnd; ++slot) append_bytes(column, lengthBySlot_[slot], bytes);
  }
}

void SegmentWriter::begin_term(std::string_view term) {
  term_ = term;
  openTerm_ = {};
  openTerm_.blockBegin = size32(columns_.blocks.size());
  // A delta is slot - slotBefore_ - 1. Initially slotBefore_ is the slot before the collection's first, which
  // wraps around if that is slot 0. The first delta is the offset in the collection.
  slotBefore_ = columns_.sections.back().slotBegin - 1;
  openBlocks_.clear();
  termMetaBegin_ = metaSlots_.size();
}

void SegmentWriter::add_posting(uint32_t slot, uint32_t tf) {
  ++openTerm_.df;
  if (blockSlots_.size() == kBlockPostings) flush_block();
  if (columns_.sections.back().kind == SectionKind::kMeta) metaSlots_.push_back(slot);
  blockSlots_.push_back(slot);
  blockTfs_.push_back(tf);
  positionNext_ = 0;
}

void SegmentWriter::add_position(uint32_t position) {
  blockPositions_.push_back(position - positionNext_);
  positionNext_ = position + 1;
}

Impacts SegmentWriter::block_impacts() {
  scratch_.clear();
  for (const uint32_t slot : blockSlots_) scratch_.push_back(lengthBySlot_[slot]);
  const SectionEntry& section = columns_.sections.back();
  return make_impacts(blockTfs_, scratch_, static_cast<double>(section.totalLength) / section.documents);
}

void SegmentWriter::flush_block() {
  const bool isText = columns_.sections.back().kind == SectionKind::kText;
  BlockEntry block{blockSlots_.back(), 0, 0, {}};
  // A list of a single block has no block entry, so its impacts would never be read.
  if (isText && openTerm_.df > kBlockPostings) block.impacts = block_impacts();
  scratch_.clear();
  uint32_t deltaBits = 0;
  for (const uint32_t slot : blockSlots_) {
    scratch_.push_back(slot - slotBefore_ - 1);
    deltaBits |= scratch_.back();
    slotBefore_ = slot;
  }
  uint32_t tfBits = 0;
  for (uint32_t& tf : blockTfs_) tfBits |= --tf;
  const uint32_t deltaWidth = bit_width_of(deltaBits);
  const uint32_t tfWidth = bit_width_of(tfBits);
  skip_to_fit(columns_.postings, static_cast<size_t>(2 + packed_bytes(scratch_.size(), deltaWidth) + packed_bytes(scratch_.size(), tfWidth)));
  if (openBlocks_.empty()) openTerm_.postingsBegin = columns_.postings.size();
  block.postingsOffset = size32(columns_.postings.size() - openTerm_.postingsBegin);
  columns_.postings.push_back(static_cast<uint8_t>(deltaWidth));
  columns_.postings.push_back(static_cast<uint8_t>(tfWidth));
  pack(scratch_, deltaWidth, columns_.postings);
  pack(blockTfs_, tfWidth, columns_.postings);
  if (isText) block.positionsOffset = pack_positions();
  openBlocks_.push_back(block);
  blockSlots_.clear();
  blockTfs_.clear();
  blockPositions_.clear();
}

uint32_t SegmentWriter::pack_positions() {
  uint32_t bits = 0;
  for (const uint32_t gap : blockPositions_) bits |= gap;
  const uint32_t width = bit_width_of(bits);
  skip_to_fit(columns_.positions, static_cast<size_t>(1 + packed_bytes(blockPositions_.size(), width)));
  const size_t begin = columns_.positions.size();
  if (openBlocks_.empty()) openTerm_.positionsBegin = begin;
  columns_.positions.push_back(static_cast<uint8_t>(width));
  pack_horizontal(blockPositions_, width, columns_.positions);
  return size32(begin - openTerm_.positionsBegin);
}

void SegmentWriter::end_term() {
  if (openTerm_.df == 0) return;
  flush_block();
  openTerm_.postingsEnd = columns_.postings.size();
  const bool isText = columns_.sections.back().kind == SectionKind::kText;
  if (!isText) openTerm_.positionsBegin = columns_.positions.size();
  openTerm_.positionsEnd = columns_.positions.size();
  if (openBlocks_.size() > 1) columns_.blocks.insert(columns_.blocks.end(), openBlocks_.begin(), openBlocks_.end());
  dictionary_.add(term_, openTerm_, columns_);
  SectionEntry& section = columns_.sections.back();
  write_bit_set(section.termEnd++, termMetaBegin_);
}

void SegmentWriter::write_bit_set(uint32_t term, size_t firstPosting) {
  const SectionEntry& section = columns_.sections.back();
  const size_t postings = metaSlots_.size() - firstPosting;
  if (postings <= kBlockPostings || postings * kBitSetShareDivisor < section.slotEnd - section.slotBegin) return;
  columns_.bitSets.push_back({size32(columns_.sections.size() - 1), term, columns_.bitWords.size()});
  columns_.bitWords.resize(columns_.bitWords.size() + bit_set_words(section.slotBegin, section.slotEnd));
  uint64_t* words = columns_.bitWords.data() + columns_.bitSets.back().wordBegin;
  for (size_t index = firstPosting; index < metaSlots_.size(); ++index) {
    const uint32_t slot = metaSlots_[index];
    words[slot / 64 - section.slotBegin / 64] |= uint64_t{1} << (slot % 64);
  }
}

void SegmentWriter::end_section() {
  for (const uint32_t slot : sectionSlots_) lengthBySlot_[slot] = 0;
  sectionSlots_.clear();
  // If there is a single value, its bits are those of the key.
  if (columns_.sections.back().termEnd - columns_.sections.back().termBegin > 1) write_bit_set(kEveryTerm, 0);
  metaSlots_.clear();
  const SectionEntry section = columns_.sections.back();
  if (section.termBegin != section.termEnd) return;
  columns_.sections.pop_back();
  columns_.names.resize(section.nameBegin);
  columns_.fieldLengths.resize(static_cast<size_t>(section.lengthsBegin));
  --columns_.collections[owner_].sectionEnd;
}

std::shared_ptr<const Segment> SegmentWriter::finish(uint64_t serial, OrderSeeds seeds) {
  dictionary_.finish(columns_);
  write_slot_orders(columns_, std::move(seeds));
  for (std::vector<uint8_t>* packed : {&columns_.postings, &columns_.positions, &columns_.fieldLengths}) packed->resize(packed->size() + kPackedPadding);
  zip_columns(columns_, columns_, [](auto& column, auto&, ColumnStart) { column.shrink_to_fit(); });
  return std::make_shared<const Segment>(serial, std::move(columns_));
}

}  // namespace mds
