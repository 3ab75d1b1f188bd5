// See posting_cursor.h.
#include "segment/posting_cursor.h"

#include <algorithm>

#include "base/bit_packing.h"

namespace mds {
namespace {

constexpr uint32_t kLinearSteps = 4;

}  // namespace

PostingCursor::PostingCursor(const Segment& segment, const SectionEntry& section, const TermEntry& entry) noexcept
    : postings_(segment.postings()),
      positions_(segment.positions()),
      entry_(entry),
      df_(entry.df),
      slotBase_(section.slotBegin - 1),
      slotEnd_(section.slotEnd),
      blockCount_((entry.df + kBlockPostings - 1) / kBlockPostings) {
  if (blockCount_ > 1) blocks_ = segment.blocks().subview(entry.blockBegin, blockCount_);
  if (blockCount_ > 1 && blocks_.size() != blockCount_) blockCount_ = 0;
  load_block(0);
}

void PostingCursor::end_list() noexcept {
  block_ = blockCount_;
  index_ = count_ = 0;
  doc_ = kEndOfList;
}

void PostingCursor::load_block(uint32_t block) noexcept {
  if (block >= blockCount_) return end_list();
  const uint64_t at = entry_.postingsBegin + (blocks_.empty() ? 0 : blocks_[block].postingsOffset);
  const Bytes run = at < entry_.postingsEnd ? postings_.run_at(static_cast<size_t>(at)) : Bytes();
  blockPostings_ = run.first(static_cast<size_t>(std::min<uint64_t>(run.size(), entry_.postingsEnd - at)));
  if (blockPostings_.size() < 2) return end_list();
  const uint32_t slotWidth = blockPostings_[0];
  tfWidth_ = blockPostings_[1];
  const uint32_t count = std::min(kBlockPostings, df_ - block * kBlockPostings);
  tfsAt_ = 2 + static_cast<size_t>(packed_bytes(count, slotWidth));
  if (slotWidth > 32 || tfWidth_ > 32 || tfsAt_ + packed_bytes(count, tfWidth_) > blockPostings_.size()) return end_list();

  const uint32_t slotBefore = count_ == 0 ? slotBase_ : slots_[count_ - 1];
  unpack(blockPostings_.data() + 2, count, slotWidth, slots_.data());
  uint32_t slot = block == 0 ? slotBase_ : blocks_[block - 1].slotLast;
  for (uint32_t index = 0; index < count; ++index) slots_[index] = slot += slots_[index] + 1;
  if (!are_slots_valid(slotBefore, slotWidth, count)) return end_list();
  block_ = block;
  index_ = 0;
  count_ = count;
  doc_ = slots_[0];
  tfsDecoded_ = false;
  blockPositions_ = {};
  positionsIndex_ = 0;
  positionsBefore_ = 0;
}

// Slots index other columns and must ascend inside the collection, whatever the bytes are. Narrow deltas can't wrap, so that the first and the last slot tell.
bool PostingCursor::are_slots_valid(uint32_t slotBefore, uint32_t slotWidth, uint32_t count) const noexcept {
  constexpr uint32_t kNarrowWidth = 24;  // 128 x 2^24 = 2^31
  if (slotWidth > kNarrowWidth && !std::is_sorted(slots_.begin(), slots_.begin() + count)) return false;
  // Counted from slotBase_, which may be one below 0.
  return slots_[0] - slotBase_ > slotBefore - slotBase_ && slots_[count - 1] - slotBase_ < slotEnd_ - slotBase_;
}

void PostingCursor::decode_tfs() noexcept {
  unpack(blockPostings_.data() + tfsAt_, count_, tfWidth_, tfs_.data());
  for (uint32_t index = 0; index < count_; ++index) ++tfs_[index];
  tfsDecoded_ = true;
}

void PostingCursor::advance(uint32_t target) noexcept {
  if (doc_ >= target) return;
  if (slots_[count_ - 1] < target) {
    if (blocks_.empty()) return end_list();
    uint32_t block = block_ + 1;
    if (block < blockCount_ && blocks_[block].slotLast < target) {
      uint32_t left = blockCount_ - block;
      while (left > 0) {
        const uint32_t half = left / 2;
        if (blocks_[block + half].slotLast < target) {
          block += half + 1;
          left -= half + 1;
        } else {
          left = half;
        }
      }
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

void PostingCursor::load_positions() {
  const uint64_t begin = entry_.positionsBegin + (blocks_.empty() ? 0 : blocks_[block_].positionsOffset);
  const bool isLast = block_ + 1 == blockCount_;
  const uint64_t end = isLast ? entry_.positionsEnd : entry_.positionsBegin + blocks_[block_ + 1].positionsOffset;
  blockPositions_ = contiguous(positions_, static_cast<size_t>(begin), static_cast<size_t>(std::min(end, entry_.positionsEnd)), straddling_);
}

void PostingCursor::positions(std::vector<uint32_t>& out) {
  out.clear();
  const uint32_t occurrences = tf();
  if (blockPositions_.empty()) load_positions();
  for (; positionsIndex_ < index_; ++positionsIndex_) positionsBefore_ += tfs_[positionsIndex_];
  const uint64_t before = positionsBefore_;
  if (blockPositions_.empty()) return;
  const uint32_t width = blockPositions_[0];
  if (width > 32 || occurrences > kTermFrequencyMax || 1 + packed_bytes(before + occurrences, width) > blockPositions_.size()) return;
  out.resize(occurrences);
  uint32_t position = 0;
  for (uint32_t index = 0; index < occurrences; ++index) {
    position += read_packed(blockPositions_.data() + 1, before + index, width);
    out[index] = position++;
  }
}

}  // namespace mds
