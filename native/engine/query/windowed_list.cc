// See windowed_list.h.
#include "query/windowed_list.h"

#include <algorithm>

namespace mds {

WindowedList::WindowedList(PostingList list, FieldLengths lengths, size_t field, ScoreEstimate estimate, const WindowGrid& grid, DecodedBlockPool& pool)
    : list_(list),
      lengths_(lengths),
      field_(field),
      estimate_(estimate),
      grid_(grid),
      pool_(&pool),
      blockMaxes_(list.block_count()),
      windowMaxes_(grid.count()),
      firstBlocks_(grid.count(), kNoBlock),
      decoded_(list.block_count()) {
  if (list.entries().empty()) {
    bound_by_postings();
  } else {
    bound_by_entries();
  }
}

void WindowedList::bound_by_entries() {
  const std::span<const BlockEntry> entries = list_.entries();
  for (uint32_t block = 0; block < entries.size(); ++block) {
    const uint32_t slotFirst = list_.slot_before(block) + 1;
    const uint32_t slotLast = entries[block].slotLast;
    const float bound = blockMaxes_[block] = estimate_.bound(entries[block].impacts);
    if (!grid_.contains(slotFirst) || !grid_.contains(slotLast)) continue;  // damaged: nothing is found there
    for (uint32_t window = grid_.window_of(slotFirst); window <= grid_.window_of(slotLast); ++window) {
      windowMaxes_[window] = std::max(windowMaxes_[window], bound);
      firstBlocks_[window] = std::min(firstBlocks_[window], block);
    }
  }
}

// A list of a single block has no impacts: its postings are few enough to look at.
void WindowedList::bound_by_postings() {
  DecodedBlock& decoded = slots(0);
  const float* values = estimates(decoded);
  for (uint32_t index = 0; index < decoded.packed.count; ++index) {
    const uint32_t window = grid_.window_of(decoded.slots[index]);
    blockMaxes_[0] = std::max(blockMaxes_[0], values[index]);
    windowMaxes_[window] = std::max(windowMaxes_[window], values[index]);
    firstBlocks_[window] = 0;
  }
}

bool WindowedList::position_run(uint32_t place, PositionRun& out) {
  const uint32_t block = place / kBlockPostings;
  const uint32_t index = place % kBlockPostings;
  const uint32_t* ends = tf_ends(slots(block));
  const uint32_t before = index == 0 ? 0 : ends[index - 1];
  PackedPositions packed{};
  return list_.read_positions(block, packed) && make_position_run(packed, before, ends[index] - before, out);
}

const uint32_t* WindowedList::tf_ends(DecodedBlock& block) noexcept {
  if (!block.hasTfEnds) {
    decode_tf_ends(block.packed, block.tfEnds.data());
    block.hasTfEnds = true;
  }
  return block.tfEnds.data();
}

DecodedBlock& WindowedList::decode(uint32_t block) {
  DecodedBlock* decoded = pool_->take();
  decoded->hasTfs = decoded->hasTfEnds = decoded->hasEstimates = false;
  const bool isRead = list_.read(block, decoded->packed);
  if (isRead) decode_slots(decoded->packed, decoded->slots.data());
  // A block that leads out of the collection is damaged, too: lengths are looked up by these slots.
  if (!isRead || !grid_.contains(decoded->slots[0]) || !grid_.contains(decoded->slots[decoded->packed.count - 1])) decoded->packed.count = 0;
  std::fill(decoded->slots.begin() + decoded->packed.count, decoded->slots.end(), kPaddingSlot);
  decoded_[block] = decoded;
  return *decoded;
}

const uint32_t* WindowedList::tfs(DecodedBlock& block) noexcept {
  if (!block.hasTfs) {
    decode_tfs(block.packed, block.tfs.data());
    block.hasTfs = true;
  }
  return block.tfs.data();
}

const float* WindowedList::estimates(DecodedBlock& block) noexcept {
  if (block.hasEstimates) return block.estimates.data();
  const uint32_t count = block.packed.count;
  static_cast<void>(tfs(block));
  std::array<uint32_t, kBlockPostings> lengths;
  if (estimate_.needs_lengths()) {
    lengths_.gather(std::span(block.slots).first(count), lengths.data());
  } else {
    std::fill(lengths.begin(), lengths.end(), 1);
  }
  for (uint32_t index = count; index % 4 != 0; ++index) block.tfs[index] = lengths[index] = 1;
  estimate_.estimate(block.tfs.data(), lengths.data(), count, block.estimates.data());
  block.hasEstimates = true;
  return block.estimates.data();
}

void WindowedList::forget_blocks() noexcept {
  std::fill(decoded_.begin(), decoded_.end(), nullptr);
  current_ = nullptr;
  slotAsked_ = kEndOfList;
}

}  // namespace mds
