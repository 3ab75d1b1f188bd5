// See posting_cursor.h.
#include "segment/posting_cursor.h"

#include <algorithm>

#include "base/bit_packing.h"

namespace mds {
namespace {

constexpr uint32_t kLinearSteps = 4;

}  // namespace

PostingCursor::PostingCursor(const Segment& segment, const SectionEntry& section, uint32_t term) noexcept : slotBase_(section.slotBegin - 1) {
  const TermEntry& entry = segment.term_entries()[term];
  const TermEntry& after = segment.term_entries()[term + 1];
  df_ = entry.df;
  postings_ = segment.postings().subspan(static_cast<size_t>(entry.postingsBegin), static_cast<size_t>(after.postingsBegin - entry.postingsBegin));
  positions_ = segment.positions().subspan(static_cast<size_t>(entry.positionsBegin), static_cast<size_t>(after.positionsBegin - entry.positionsBegin));
  blockCount_ = (df_ + kBlockPostings - 1) / kBlockPostings;
  if (blockCount_ > 1) blocks_ = segment.blocks().subspan(entry.blockBegin, blockCount_);
  load_block(0);
}

void PostingCursor::end_list() noexcept {
  block_ = blockCount_;
  index_ = count_ = 0;
  doc_ = kEndOfList;
}

void PostingCursor::load_block(uint32_t block) noexcept {
  if (block >= blockCount_) return end_list();
  const size_t at = blocks_.empty() ? 0 : blocks_[block].postingsOffset;
  if (postings_.size() < at + 2) return end_list();
  const uint32_t slotWidth = postings_[at];
  tfWidth_ = postings_[at + 1];
  const uint32_t count = std::min(kBlockPostings, df_ - block * kBlockPostings);
  tfsAt_ = at + 2 + static_cast<size_t>(packed_bytes(count, slotWidth));
  if (slotWidth > 32 || tfWidth_ > 32 || tfsAt_ + packed_bytes(count, tfWidth_) > postings_.size()) return end_list();

  unpack(postings_.data() + at + 2, count, slotWidth, slots_.data());
  uint32_t slot = block == 0 ? slotBase_ : blocks_[block - 1].slotLast;
  for (uint32_t index = 0; index < count; ++index) slots_[index] = slot += slots_[index] + 1;
  block_ = block;
  index_ = 0;
  count_ = count;
  doc_ = slots_[0];
  tfsDecoded_ = false;
  positionsIndex_ = 0;
  positionsBefore_ = 0;
}

void PostingCursor::decode_tfs() noexcept {
  unpack(postings_.data() + tfsAt_, count_, tfWidth_, tfs_.data());
  for (uint32_t index = 0; index < count_; ++index) ++tfs_[index];
  tfsDecoded_ = true;
}

void PostingCursor::advance(uint32_t target) noexcept {
  if (doc_ >= target) return;
  if (slots_[count_ - 1] < target) {
    if (blocks_.empty()) return end_list();
    uint32_t block = block_ + 1;
    if (block < blockCount_ && blocks_[block].slotLast < target) {
      const auto found = std::lower_bound(blocks_.begin() + block, blocks_.end(), target, [](const BlockEntry& entry, uint32_t slot) { return entry.slotLast < slot; });
      block = static_cast<uint32_t>(found - blocks_.begin());
    }
    load_block(block);
    if (doc_ >= target) return;
    if (slots_[count_ - 1] < target) return end_list();
  }
  // Targets of a conjunction of common terms are near: a few steps first, halving after them. The block's last slot is not below the target, so the loops end inside.
  uint32_t begin = index_ + 1;
  for (uint32_t step = 0; step < kLinearSteps && slots_[begin] < target; ++step) ++begin;
  if (slots_[begin] < target) {
    uint32_t left = count_ - begin;
    while (left > 1) {
      const uint32_t half = left / 2;
      if (slots_[begin + half - 1] < target) begin += half;
      left -= half;
    }
  }
  index_ = begin;
  doc_ = slots_[begin];
}

void PostingCursor::positions(std::vector<uint32_t>& out) {
  out.clear();
  const uint32_t occurrences = tf();
  const size_t at = blocks_.empty() ? 0 : blocks_[block_].positionsOffset;
  for (; positionsIndex_ < index_; ++positionsIndex_) positionsBefore_ += tfs_[positionsIndex_];
  const uint64_t before = positionsBefore_;
  if (at >= positions_.size()) return;
  const uint32_t width = positions_[at];
  if (width > 32 || at + 1 + packed_bytes(before + occurrences, width) > positions_.size()) return;
  out.resize(occurrences);
  uint32_t position = 0;
  for (uint32_t index = 0; index < occurrences; ++index) {
    position += read_packed(positions_.data() + at + 1, before + index, width);
    out[index] = position++;
  }
}

}  // namespace mds
