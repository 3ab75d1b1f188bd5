// A pool for the posting blocks that a pruned search has decoded, so that no block is decoded twice. There is
// one pool per thread, reused by successive searches. Memory beyond kDecodedBlocksKept is freed when a search
// ends. Throws std::bad_alloc.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "base/limits.h"
#include "query/pruned/threshold_mask.h"
#include "segment/postings/posting_list.h"

namespace mds {

// Padding behind a block's last slot. It is above all slots: slots are below 2^31, because 32-bit offsets
// bound a segment.
inline constexpr uint32_t kPaddingSlot = INT32_MAX;

// One block. Parts are filled when first needed. Arrays have `packed.count` values; slots are padded.
struct DecodedBlock {
  PackedBlock packed;
  bool hasTfs;
  bool hasTfEnds;
  bool hasEstimates;
  bool hasPositions;
  PackedPositions positions;
  std::array<uint32_t, kBlockPostings> slots;
  std::array<uint32_t, kBlockPostings> tfs;
  std::array<uint32_t, kBlockPostings> tfEnds;
  std::array<float, kBlockPostings + kMaskValues> estimates;  // plus space for a mask at the last value
};

class DecodedBlockPool {
 public:
  // Returns an uninitialized block, valid until `clear`.
  [[nodiscard]] DecodedBlock* take() {
    if (used_ == pages_.size() * kPageBlocks) pages_.push_back(std::make_unique_for_overwrite<std::array<DecodedBlock, kPageBlocks>>());
    DecodedBlock* block = &(*pages_[used_ / kPageBlocks])[used_ % kPageBlocks];
    ++used_;
    return block;
  }
  [[nodiscard]] size_t used() const noexcept { return used_; }
  void clear() noexcept { used_ = 0; }
  void shrink() noexcept {
    clear();
    if (pages_.size() > kDecodedBlocksKept / kPageBlocks) pages_.resize(kDecodedBlocksKept / kPageBlocks);
  }

 private:
  static constexpr size_t kPageBlocks = 32;

  std::vector<std::unique_ptr<std::array<DecodedBlock, kPageBlocks>>> pages_;
  size_t used_ = 0;
};

}  // namespace mds
