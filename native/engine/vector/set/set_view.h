// One snapshot of a vector set, as seen by a search. Immutable, except for rows after its counts
// (vector_block.h). Shared by all searches that started while it was current.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include "vector/codes/vector_block.h"
#include "vector/vector_limits.h"

namespace mds {

class VectorGraph;
class TrainedIndex;

using BlockBits = std::array<uint64_t, kBlockSlots / 64>;

[[nodiscard]] inline bool has_row(const BlockBits& bits, uint32_t row) noexcept { return (bits[row / 64] >> (row % 64) & 1) != 0; }
inline void set_row(BlockBits& bits, uint32_t row) noexcept { bits[row / 64] |= uint64_t{1} << (row % 64); }
inline void clear_row(BlockBits& bits, uint32_t row) noexcept { bits[row / 64] &= ~(uint64_t{1} << (row % 64)); }

struct BlockRef {
  std::shared_ptr<CodeBlock> codes;
  std::shared_ptr<FullRows> full;
  std::shared_ptr<const BlockBits> live;
  uint32_t count = 0;
};

// The index kinds that are trained on the vectors. `kTrainedKinds` is their number.
enum class TrainedKind : uint32_t { kIvf = 0, kPq = 1, kOpq = 2, kSq4 = 3, kBq = 4 };
inline constexpr uint32_t kTrainedKinds = 5;

// Slot s is row s % kBlockSlots of block s / kBlockSlots. All blocks except the last are full.
struct SetView {
  uint32_t dims = 0;
  uint32_t slots = 0;
  uint32_t liveSlots = 0;
  uint32_t documents = 0;
  uint32_t docidEnd = 0;  // greater than every docid that the set contains or contained
  // Incremented each time slots are renumbered. References to slots of another generation are invalid.
  uint32_t generation = 0;
  bool isUnit = true;      // every vector, including those of dead slots, has length 1 within 1e-3
  bool hasChunks = false;  // some document has more than one chunk
  std::vector<BlockRef> blocks;
  std::shared_ptr<const VectorGraph> graph;  // null: none
  std::array<std::shared_ptr<const TrainedIndex>, kTrainedKinds> trained;

  [[nodiscard]] const BlockRef& block_of(uint32_t slot) const noexcept { return blocks[slot / kBlockSlots]; }
  [[nodiscard]] bool is_live(uint32_t slot) const noexcept { return has_row(*block_of(slot).live, slot % kBlockSlots); }
  [[nodiscard]] const int8_t* codes(uint32_t slot) const noexcept { return block_of(slot).codes->codes(slot % kBlockSlots); }
  [[nodiscard]] const CodedVector& coded(uint32_t slot) const noexcept { return block_of(slot).codes->coded(slot % kBlockSlots); }
  [[nodiscard]] const SlotIdentity& identity(uint32_t slot) const noexcept { return block_of(slot).codes->identity(slot % kBlockSlots); }
  [[nodiscard]] const float* full(uint32_t slot) const noexcept { return block_of(slot).full->row(slot % kBlockSlots); }
};

}  // namespace mds
