// See posting_list.h.
#include "segment/posting_list.h"

#include "base/bit_packing.h"

namespace mds {

PostingList::PostingList(const Segment& segment, const SectionEntry& section, uint32_t term) noexcept : slotBase_(section.slotBegin - 1) {
  const TermEntry& entry = segment.term_entries()[term];
  const TermEntry& after = segment.term_entries()[term + 1];
  df_ = entry.df;
  postings_ = segment.postings().subspan(static_cast<size_t>(entry.postingsBegin), static_cast<size_t>(after.postingsBegin - entry.postingsBegin));
  positions_ = segment.positions().subspan(static_cast<size_t>(entry.positionsBegin), static_cast<size_t>(after.positionsBegin - entry.positionsBegin));
  if (block_count() > 1) entries_ = segment.blocks().subspan(entry.blockBegin, block_count());
}

bool PostingList::read(uint32_t block, PackedBlock& out) const noexcept {
  const size_t at = entries_.empty() ? 0 : entries_[block].postingsOffset;
  if (postings_.size() < at + 2) return false;
  out.count = std::min(kBlockPostings, df_ - block * kBlockPostings);
  out.slotWidth = postings_[at];
  out.tfWidth = postings_[at + 1];
  const size_t tfsAt = at + 2 + static_cast<size_t>(packed_bytes(out.count, out.slotWidth));
  if (out.slotWidth > 32 || out.tfWidth > 32 || tfsAt + packed_bytes(out.count, out.tfWidth) > postings_.size()) return false;
  out.slots = postings_.data() + at + 2;
  out.tfs = postings_.data() + tfsAt;
  out.slotBefore = slot_before(block);
  return true;
}

bool PostingList::read_positions(uint32_t block, PackedPositions& out) const noexcept {
  const size_t at = entries_.empty() ? 0 : entries_[block].positionsOffset;
  if (at >= positions_.size() || positions_[at] > 32) return false;
  const size_t end = block + 1 < entries_.size() ? entries_[block + 1].positionsOffset : positions_.size();
  if (end <= at || end > positions_.size()) return false;
  out.width = positions_[at];
  out.gaps = positions_.data() + at + 1;
  out.gapBits = uint64_t{end - at - 1} * 8;
  return true;
}

void decode_slots(const PackedBlock& block, uint32_t* out) noexcept { unpack_ascending(block.slots, block.count, block.slotWidth, block.slotBefore, out); }

void decode_tfs(const PackedBlock& block, uint32_t* out) noexcept {
  unpack(block.tfs, block.count, block.tfWidth, out);
  for (uint32_t index = 0; index < block.count; ++index) ++out[index];
}

// Stored as tf - 1: what ascends by one and each delta are the sums.
void decode_tf_ends(const PackedBlock& block, uint32_t* out) noexcept { unpack_ascending(block.tfs, block.count, block.tfWidth, 0, out); }

bool make_position_run(const PackedPositions& block, uint64_t before, uint32_t count, PositionRun& out) noexcept {
  out = {block.gaps, before, block.width, count};
  return (before + count) * block.width <= block.gapBits;
}

void decode_positions(const PositionRun& run, uint32_t* out) noexcept {
  uint32_t position = 0;
  for (uint32_t index = 0; index < run.count; ++index) {
    position += read_packed(run.gaps, run.before + index, run.width);
    out[index] = position++;
  }
}

}  // namespace mds
