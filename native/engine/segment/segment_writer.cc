// See segment_writer.h.
#include "segment/segment_writer.h"

#include <algorithm>

#include "base/bit_packing.h"
#include "base/limits.h"

namespace mds {
namespace {

uint32_t size32(size_t size) noexcept { return static_cast<uint32_t>(size); }

void append(std::vector<char>& bytes, std::vector<uint32_t>& ends, std::string_view text) {
  bytes.insert(bytes.end(), text.begin(), text.end());
  ends.push_back(size32(bytes.size()));
}

template <class... T>
void shrink(std::vector<T>&... columns) {
  (columns.shrink_to_fit(), ...);
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
  section.termBegin = section.termEnd = size32(columns_.termEnds.size());
  write_lengths(section, lengths);
  columns_.sections.push_back(section);
  owner->sectionEnd = size32(columns_.sections.size());
}

void SegmentWriter::write_lengths(SectionEntry& section, std::span<const SlotLength> lengths) {
  section.documents = size32(lengths.size());
  section.lengthsBegin = columns_.fieldLengths.size();
  if (lengths.empty()) {
    section.lengthsSparse = 1;
    return;
  }
  const uint32_t slots = section.slotEnd - section.slotBegin;
  // Pairs cost twice a dense entry: sparse pays below half, and keeps many rare fields from costing (fields x documents).
  section.lengthsSparse = lengths.size() * 2 < slots ? 1 : 0;
  for (const auto& [slot, length] : lengths) {
    section.totalLength += length;
    lengthBySlot_[slot] = length;
    sectionSlots_.push_back(slot);
  }
  auto& column = columns_.fieldLengths;
  if (section.lengthsSparse != 0) {
    for (const auto& [slot, length] : lengths) column.push_back(slot);
    for (const auto& [slot, length] : lengths) column.push_back(length);
  } else {
    column.insert(column.end(), lengthBySlot_.begin() + section.slotBegin, lengthBySlot_.begin() + section.slotEnd);
  }
}

void SegmentWriter::begin_term(std::string_view term) {
  term_ = term;
  openTerm_ = {columns_.postings.size(), columns_.positions.size(), 0, size32(columns_.blocks.size())};
  // Deltas count from the slot before the collection's first, minus one: wraps to the first delta being the offset in the collection.
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
  BlockEntry block{blockSlots_.back(), size32(columns_.postings.size() - openTerm_.postingsBegin), size32(columns_.positions.size() - openTerm_.positionsBegin), {}};
  // A list of a single block has no entry, so nobody would read its impacts.
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
  columns_.postings.push_back(static_cast<uint8_t>(deltaWidth));
  columns_.postings.push_back(static_cast<uint8_t>(tfWidth));
  pack(scratch_, deltaWidth, columns_.postings);
  pack(blockTfs_, tfWidth, columns_.postings);
  if (isText) {
    uint32_t positionBits = 0;
    for (const uint32_t gap : blockPositions_) positionBits |= gap;
    columns_.positions.push_back(static_cast<uint8_t>(bit_width_of(positionBits)));
    pack_horizontal(blockPositions_, bit_width_of(positionBits), columns_.positions);
  }
  openBlocks_.push_back(block);
  blockSlots_.clear();
  blockTfs_.clear();
  blockPositions_.clear();
}

void SegmentWriter::end_term() {
  if (openTerm_.df == 0) return;
  flush_block();
  if (openBlocks_.size() > 1) columns_.blocks.insert(columns_.blocks.end(), openBlocks_.begin(), openBlocks_.end());
  columns_.terms.push_back(openTerm_);
  append(columns_.termBytes, columns_.termEnds, term_);
  columns_.sections.back().termEnd = size32(columns_.termEnds.size());
  write_bit_set(columns_.sections.back().termEnd - 1, termMetaBegin_);
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
  // With a single value its own bits are those of the key.
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
  SegmentColumns& c = columns_;
  write_slot_orders(c, std::move(seeds));
  c.terms.push_back({c.postings.size(), c.positions.size(), 0, size32(c.blocks.size())});
  c.postings.resize(c.postings.size() + kPackedPadding);
  c.positions.resize(c.positions.size() + kPackedPadding);
  shrink(c.collections, c.sections, c.names, c.termEnds, c.termBytes, c.terms, c.blocks, c.postings, c.positions, c.fieldLengths, c.docids, c.lsns, c.addedAt,
         c.updatedAt, c.keyEnds, c.keyBytes, c.langEnds, c.langBytes, c.byAddedAt, c.byUpdatedAt, c.byKey, c.keyRanks, c.bitSets, c.bitWords);
  return std::make_shared<const Segment>(serial, std::move(columns_));
}

}  // namespace mds
