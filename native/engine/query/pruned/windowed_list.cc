// See windowed_list.h.
#include "query/pruned/windowed_list.h"

#include <algorithm>
#include <utility>

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
  const ColumnView<BlockEntry>& entries = list_.entries();
  slotLasts_.resize(entries.size());
  for (uint32_t block = 0; block < entries.size(); ++block) {
    const BlockEntry& entry = entries[block];
    const uint32_t slotFirst = list_.slot_before(block) + 1;
    const uint32_t slotLast = slotLasts_[block] = entry.slotLast;
    const float bound = blockMaxes_[block] = estimate_.bound(entry.impacts);
    // Damaged: no posting can be found in this block.
    if (!grid_.contains(slotFirst) || !grid_.contains(slotLast)) continue;
    for (uint32_t window = grid_.window_of(slotFirst); window <= grid_.window_of(slotLast); ++window) {
      windowMaxes_[window] = std::max(windowMaxes_[window], bound);
      firstBlocks_[window] = std::min(firstBlocks_[window], block);
    }
  }
}

// A list of a single block has no impacts. It has few postings, so the maximum of their estimates is
// computed.
void WindowedList::bound_by_postings() {
  if (list_.block_count() == 0) return;  // damaged
  DecodedBlock& decoded = slots(0);
  const float* values = estimates(decoded);
  for (uint32_t index = 0; index < decoded.packed.count; ++index) {
    const uint32_t window = grid_.window_of(decoded.slots[index]);
    blockMaxes_[0] = std::max(blockMaxes_[0], values[index]);
    windowMaxes_[window] = std::max(windowMaxes_[window], values[index]);
    firstBlocks_[window] = 0;
  }
}

bool WindowedList::position_run(uint32_t posting, PositionRun& out) {
  const uint32_t block = posting / kBlockPostings;
  const uint32_t index = posting % kBlockPostings;
  DecodedBlock& decoded = slots(block);
  const uint32_t* ends = tf_ends(decoded);
  const uint32_t before = index == 0 ? 0 : ends[index - 1];
  return read_positions(block, decoded) && make_position_run(decoded.positions, before, ends[index] - before, out);
}

bool WindowedList::read_positions(uint32_t block, DecodedBlock& decoded) {
  if (decoded.hasPositions) return true;
  std::vector<uint8_t> copied;
  decoded.hasPositions = list_.read_positions(block, copied, decoded.positions);
  if (!copied.empty()) straddling_.push_back(std::move(copied));
  return decoded.hasPositions;
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
  decoded->hasTfs = decoded->hasTfEnds = decoded->hasEstimates = decoded->hasPositions = false;
  if (!list_.read(block, decoded->packed) || !decode_slots(decoded->packed, decoded->slots.data())) decoded->packed.count = 0;
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
  straddling_.clear();
  current_ = nullptr;
  slotAsked_ = kEndOfList;
}

}  // namespace mds
