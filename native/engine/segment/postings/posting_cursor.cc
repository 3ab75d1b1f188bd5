// See posting_cursor.h.
#include "segment/postings/posting_cursor.h"

#include <algorithm>

namespace mds {
namespace {

constexpr uint32_t kLinearSteps = 4;

}  // namespace

void PostingCursor::end_list() noexcept {
  block_ = list_.block_count();
  index_ = count_ = 0;
  doc_ = kEndOfList;
}

void PostingCursor::load_block(uint32_t block) noexcept {
  const bool isFirst = count_ == 0;
  const uint32_t slotBefore = isFirst ? 0 : slots_[count_ - 1];
  // Slots must also ascend across blocks; damaged entries may violate this.
  if (!list_.read(block, packed_) || !decode_slots(packed_, slots_.data()) || (!isFirst && slots_[0] <= slotBefore)) return end_list();
  block_ = block;
  index_ = 0;
  count_ = packed_.count;
  doc_ = slots_[0];
  tfsDecoded_ = false;
  hasPositions_ = false;
  positionsIndex_ = 0;
  positionsBefore_ = 0;
}

void PostingCursor::load_tfs() noexcept {
  decode_tfs(packed_, tfs_.data());
  tfsDecoded_ = true;
}

void PostingCursor::advance(uint32_t target) noexcept {
  if (doc_ >= target) return;
  if (slots_[count_ - 1] < target) {
    const uint32_t block = list_.find_block(block_ + 1, target);
    load_block(block);
    if (doc_ >= target) return;
    if (slots_[count_ - 1] < target) return end_list();
  }
  // In a conjunction of common terms, targets are near: a few linear steps first, then bisection. The block's
  // last slot is >= the target, so the loops end within the block.
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
  for (; positionsIndex_ < index_; ++positionsIndex_) positionsBefore_ += tfs_[positionsIndex_];
  if (!hasPositions_) hasPositions_ = list_.read_positions(block_, straddling_, packedPositions_);
  PositionRun run{};
  if (!hasPositions_ || !make_position_run(packedPositions_, positionsBefore_, occurrences, run)) return;
  out.resize(occurrences);
  decode_positions(run, out.data());
}

}  // namespace mds
