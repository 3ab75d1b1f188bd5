// See posting_list.h.
#include "segment/postings/posting_list.h"

#include <bit>
#include <functional>

#include "base/bit_packing.h"

namespace mds {

namespace {

// Maximum bit width of a packed tf - 1.
constexpr uint32_t kTfWidthMax = std::bit_width(kTermFrequencyMax - 1);

}  // namespace

PostingList::PostingList(const Segment& segment, const SectionEntry& section, const TermEntry& entry) noexcept
    : segment_(&segment), entry_(entry), slotBase_(section.slotBegin - 1), slotEnd_(section.slotEnd) {
  if (block_count() > 1) entries_ = segment.blocks().subview(entry.blockBegin, block_count());
  if (block_count() > 1 && entries_.size() != block_count()) {
    entries_ = {};
    entry_ = {};
  }
}

uint32_t PostingList::find_block(uint32_t begin, uint32_t slot) const noexcept {
  // Usually the next block.
  if (begin >= entries_.size() || entries_[begin].slotLast >= slot) return begin;
  for (auto left = static_cast<uint32_t>(entries_.size()) - begin; left > 0;) {
    const uint32_t half = left / 2;
    if (entries_[begin + half].slotLast < slot) {
      begin += half + 1;
      left -= half + 1;
    } else {
      left = half;
    }
  }
  return begin;
}

bool PostingList::read(uint32_t block, PackedBlock& out) const noexcept {
  if (block >= block_count()) return false;
  const uint64_t at = entry_.postingsBegin + (entries_.empty() ? 0 : entries_[block].postingsOffset);
  // A block never crosses a chunk border.
  const Bytes run = at < entry_.postingsEnd ? segment_->postings().run_at(static_cast<size_t>(at)) : Bytes();
  const Bytes bytes = run.first(static_cast<size_t>(std::min<uint64_t>(run.size(), entry_.postingsEnd - at)));
  if (bytes.size() < 2) return false;
  out.count = std::min(kBlockPostings, entry_.df - block * kBlockPostings);
  out.slotWidth = bytes[0];
  out.tfWidth = bytes[1];
  const size_t tfsAt = 2 + static_cast<size_t>(packed_bytes(out.count, out.slotWidth));
  if (out.slotWidth > 32 || out.tfWidth > kTfWidthMax || tfsAt + packed_bytes(out.count, out.tfWidth) > bytes.size()) return false;
  out.slots = bytes.data() + 2;
  out.tfs = bytes.data() + tfsAt;
  out.slotBefore = slot_before(block);
  out.slotBase = slotBase_;
  out.slotEnd = slotEnd_;
  return true;
}

bool PostingList::read_positions(uint32_t block, std::vector<uint8_t>& straddling, PackedPositions& out) const {
  const uint64_t begin = entry_.positionsBegin + (entries_.empty() ? 0 : entries_[block].positionsOffset);
  const bool isLast = block + 1 >= entries_.size();
  const uint64_t end = isLast ? entry_.positionsEnd : std::min(entry_.positionsBegin + entries_[block + 1].positionsOffset, entry_.positionsEnd);
  const Bytes bytes = contiguous(segment_->positions(), static_cast<size_t>(begin), static_cast<size_t>(end), straddling);
  if (bytes.empty() || bytes[0] > 32) return false;
  out = {bytes.data() + 1, bytes[0], uint64_t{bytes.size() - 1} * 8};
  return true;
}

bool decode_slots(const PackedBlock& block, uint32_t* out) noexcept {
  unpack_ascending(block.slots, block.count, block.slotWidth, block.slotBefore, out);
  // Up to this width a sum cannot wrap around (128 x 2^24 = 2^31), so checking the first and the last slot
  // suffices.
  constexpr uint32_t kNarrowWidth = 24;
  if (block.slotWidth > kNarrowWidth && std::adjacent_find(out, out + block.count, std::greater_equal<>()) != out + block.count) return false;
  // Relative to slotBase, which may be one below 0.
  const uint32_t first = out[0] - block.slotBase;
  const uint32_t last = out[block.count - 1] - block.slotBase;
  return first > block.slotBefore - block.slotBase && first <= last && last < block.slotEnd - block.slotBase;
}

void decode_tfs(const PackedBlock& block, uint32_t* out) noexcept {
  unpack(block.tfs, block.count, block.tfWidth, out);
  for (uint32_t index = 0; index < block.count; ++index) ++out[index];
}

// Stored as tf - 1: the running sum of each delta plus one.
void decode_tf_ends(const PackedBlock& block, uint32_t* out) noexcept { unpack_ascending(block.tfs, block.count, block.tfWidth, 0, out); }

bool make_position_run(const PackedPositions& block, uint64_t before, uint32_t count, PositionRun& out) noexcept {
  out = {};
  if (count > kTermFrequencyMax || (before + count) * block.width > block.gapBits) return false;
  out = {block.gaps, before, block.width, count};
  return true;
}

void decode_positions(const PositionRun& run, uint32_t* out) noexcept {
  uint32_t position = 0;
  for (uint32_t index = 0; index < run.count; ++index) {
    position += read_packed(run.gaps, run.before + index, run.width);
    out[index] = position++;
  }
}

}  // namespace mds
