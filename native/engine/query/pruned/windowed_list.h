// One posting list for pruned search: an upper bound per block and per window, and random access to its
// blocks. A block is decoded when first needed. Used by one search on one thread. Valid while the snapshot is
// referenced and the pool is not cleared.
#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "query/filter/window_grid.h"
#include "query/pruned/decoded_blocks.h"
#include "query/pruned/score_estimate.h"
#include "segment/postings/posting_list.h"

namespace mds {

class WindowedList {
 public:
  // `lengths`: field lengths of the list's section, which must be text.
  WindowedList(PostingList list, FieldLengths lengths, size_t field, ScoreEstimate estimate, const WindowGrid& grid, DecodedBlockPool& pool);

  [[nodiscard]] uint32_t df() const noexcept { return list_.df(); }
  [[nodiscard]] size_t field() const noexcept { return field_; }
  [[nodiscard]] uint32_t length(uint32_t slot) const noexcept { return lengths_.at(slot); }
  // Never below the estimate of any posting in the window; 0 without postings.
  [[nodiscard]] float window_max(uint32_t window) const noexcept { return windowMaxes_[window]; }
  // Whether the list has no postings in the window.
  [[nodiscard]] bool is_absent(uint32_t window) const noexcept { return firstBlocks_[window] == kNoBlock; }

  // Moves to the block that would contain `slot`, which must be in the window, without decoding anything.
  // Returns false if no block can contain it. Cheap if slots ascend from call to call.
  [[nodiscard]] bool seek_block(uint32_t window, uint32_t slot) noexcept {
    if (slot < slotAsked_) {
      if (is_absent(window)) return false;
      block_ = firstBlocks_[window];
      current_ = nullptr;
    }
    slotAsked_ = slot;
    if (slotLasts_.empty()) return true;
    while (block_ < slotLasts_.size() && slotLasts_[block_] < slot) {
      ++block_;
      current_ = nullptr;
    }
    return block_ < slotLasts_.size();
  }
  // Bound of the block that seek_block found.
  [[nodiscard]] float current_max() const noexcept { return blockMaxes_[block_]; }
  // Searches the block that seek_block found. Returns false if the slot is not in the list.
  [[nodiscard]] bool find(uint32_t slot) {
    if (current_ == nullptr) current_ = &slots(block_);
    index_ = lower_index(*current_, slot);
    return index_ < current_->packed.count && current_->slots[index_] == slot;
  }
  // Tf of the posting that `find` found.
  [[nodiscard]] uint32_t tf() { return tfs(*current_)[index_]; }
  // The same, computed from data that position_run decodes as well.
  [[nodiscard]] uint32_t tf_by_ends() {
    const uint32_t* ends = tf_ends(*current_);
    return index_ == 0 ? ends[0] : ends[index_] - ends[index_ - 1];
  }
  // Index in the list of the posting that `find` found, for position_run.
  [[nodiscard]] uint32_t posting() const noexcept { return block_ * kBlockPostings + index_; }
  // Finds the location of the positions of a posting. Returns false if its block is damaged.
  [[nodiscard]] bool position_run(uint32_t posting, PositionRun& out);

  // Calls visit(slots, estimates, count, index of the first posting) for each run of postings in the window,
  // in all blocks whose bound is not below `least`.
  template <class Visit>
  void visit_window(uint32_t window, float least, Visit visit) {
    const uint32_t begin = grid_.begin(window);
    const uint32_t end = grid_.end(window);
    for (uint32_t block = firstBlocks_[window]; block < list_.block_count() && (block == firstBlocks_[window] || slotLasts_[block - 1] + 1 < end); ++block) {
      if (blockMaxes_[block] < least) continue;
      DecodedBlock& decoded = slots(block);
      if (decoded.packed.count == 0) continue;
      const uint32_t first = decoded.slots[0] >= begin ? 0 : lower_index(decoded, begin);
      const uint32_t last = decoded.slots[decoded.packed.count - 1] < end ? decoded.packed.count : lower_index(decoded, end);
      if (first < last) visit(decoded.slots.data() + first, estimates(decoded) + first, last - first, block * kBlockPostings + first);
    }
  }

  // Accessors of a block: its slots, tfs, tf ends and estimates. A damaged block has no postings.
  [[nodiscard]] DecodedBlock& slots(uint32_t block) { return decoded_[block] != nullptr ? *decoded_[block] : decode(block); }
  [[nodiscard]] const uint32_t* tfs(DecodedBlock& block) noexcept;
  [[nodiscard]] const uint32_t* tf_ends(DecodedBlock& block) noexcept;
  [[nodiscard]] const float* estimates(DecodedBlock& block) noexcept;

  // Must be called when the pool has been cleared.
  void forget_blocks() noexcept;

 private:
  static constexpr uint32_t kNoBlock = UINT32_MAX;

  [[nodiscard]] DecodedBlock& decode(uint32_t block);
  [[nodiscard]] bool read_positions(uint32_t block, DecodedBlock& decoded);
  void bound_by_entries();
  void bound_by_postings();
  // Returns the index of the block's first posting whose slot is >= `slot`; if there is none, an index at or
  // past the block's count.
  [[nodiscard]] static uint32_t lower_index(const DecodedBlock& block, uint32_t slot) noexcept;

  PostingList list_;
  FieldLengths lengths_;
  size_t field_;
  ScoreEstimate estimate_;
  WindowGrid grid_;
  DecodedBlockPool* pool_;
  std::vector<uint32_t> slotLasts_;  // last slot of each block; empty for a list of a single block
  std::vector<float> blockMaxes_;
  std::vector<float> windowMaxes_;
  std::vector<uint32_t> firstBlocks_;  // per window
  std::vector<DecodedBlock*> decoded_;
  std::vector<std::vector<uint8_t>> straddling_;  // positions of decoded blocks that are larger than a chunk
  // Result of the last lookup.
  uint32_t block_ = 0;
  uint32_t index_ = 0;
  uint32_t slotAsked_ = kEndOfList;
  DecodedBlock* current_ = nullptr;
};

// Counts instead of searching: no step depends on the result of another, and no branch depends on
// unpredictable slots.
inline uint32_t WindowedList::lower_index(const DecodedBlock& block, uint32_t slot) noexcept {
  constexpr uint32_t kRun = 16;
  using Ints = int32_t __attribute__((vector_size(16)));
  const uint32_t* values = block.slots.data();
  uint32_t runs = 0;
  for (uint32_t last = kRun - 1; last < kBlockPostings - kRun; last += kRun) runs += static_cast<uint32_t>(values[last] < slot);
  const uint32_t* run = values + size_t{runs} * kRun;
  // Slots are below 2^31, see kPaddingSlot.
  const Ints wanted = Ints{} + static_cast<int32_t>(slot);
  Ints below{};
  for (uint32_t at = 0; at < kRun; at += 4) {
    Ints four;
    std::memcpy(&four, run + at, sizeof four);
    below -= four < wanted;
  }
  return runs * kRun + static_cast<uint32_t>(below[0] + below[1] + below[2] + below[3]);
}

}  // namespace mds
