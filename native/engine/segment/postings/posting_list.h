// The blocks of one posting list: finds, validates and decodes one block at a time. Has no current position
// and decodes nothing on its own. Bytes are accessed only through a pointer to one posting block or one
// positions block. A block that exceeds the list's bytes is rejected, so that nothing outside the columns is
// ever read. A block with slots outside the collection is rejected as well. Copied by value; valid while the
// segment is referenced; any number of threads. Block bytes: docs/formats/segment.md.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "base/limits.h"
#include "segment/segment.h"

namespace mds {

// One validated posting block: kPackedPadding readable bytes follow each part.
struct PackedBlock {
  const uint8_t* slots;
  const uint8_t* tfs;
  uint32_t count;  // at least 1
  uint32_t slotWidth;
  uint32_t tfWidth;
  uint32_t slotBefore;  // base of the first delta
  uint32_t slotBase;    // one before the collection's first slot
  uint32_t slotEnd;     // end of the collection's slots
};

// The gaps of all positions of one block. Not validated against a count: `gapBits` is the upper bound of
// their size in bits.
struct PackedPositions {
  const uint8_t* gaps;
  uint32_t width;
  uint64_t gapBits;
};

class PostingList {
 public:
  PostingList(const Segment& segment, const SectionEntry& section, const TermEntry& entry) noexcept;
  PostingList(const Segment& segment, const SectionEntry& section, uint32_t term) noexcept : PostingList(segment, section, segment.term_entry(term)) {}

  [[nodiscard]] uint32_t df() const noexcept { return entry_.df; }
  // 0 if the list is damaged.
  [[nodiscard]] uint32_t block_count() const noexcept { return (entry_.df + kBlockPostings - 1) / kBlockPostings; }
  // One entry per block; empty for a list of a single block.
  [[nodiscard]] const ColumnView<BlockEntry>& entries() const noexcept { return entries_; }
  // The slot that all slots of the block are above. `block` must be in range.
  [[nodiscard]] uint32_t slot_before(uint32_t block) const noexcept { return block == 0 ? slotBase_ : entries_[block - 1].slotLast; }
  // Returns the first block, from `begin` on, whose last slot is >= `slot`, in O(log n); `begin` for a list
  // of a single block.
  [[nodiscard]] uint32_t find_block(uint32_t begin, uint32_t slot) const noexcept;

  // Returns false past the last block and for a block that exceeds the list's bytes.
  [[nodiscard]] bool read(uint32_t block, PackedBlock& out) const noexcept;
  // Text sections only. Returns false in the same cases. If a block is larger than a chunk, its bytes are
  // copied to `straddling` and `out` points to them; otherwise `straddling` is unchanged.
  [[nodiscard]] bool read_positions(uint32_t block, std::vector<uint8_t>& straddling, PackedPositions& out) const;

 private:
  const Segment* segment_;
  ColumnView<BlockEntry> entries_;
  TermEntry entry_;
  uint32_t slotBase_;  // one before the collection's first slot
  uint32_t slotEnd_;   // end of the collection's slots
};

// Decodes the slots of a block; `out` has space for kBlockPostings. Returns false unless the slots ascend
// within the collection, whatever the bytes are: slots index other columns.
[[nodiscard]] bool decode_slots(const PackedBlock& block, uint32_t* out) noexcept;
void decode_tfs(const PackedBlock& block, uint32_t* out) noexcept;
// Decodes the running sums of the tfs, including each posting: the end of its positions among those of the
// block.
void decode_tf_ends(const PackedBlock& block, uint32_t* out) noexcept;
// The location of the positions of one posting: `count` gaps after `before` others. Validated against the
// block's bytes.
struct PositionRun {
  const uint8_t* gaps;
  uint64_t before;
  uint32_t width;
  uint32_t count;

  [[nodiscard]] const uint8_t* address() const noexcept { return gaps + before * width / 8; }
};

// Returns false if the run exceeds the block's bytes.
[[nodiscard]] bool make_position_run(const PackedPositions& block, uint64_t before, uint32_t count, PositionRun& out) noexcept;
// Decodes ascending positions; `out` has space for `count`.
void decode_positions(const PositionRun& run, uint32_t* out) noexcept;

}  // namespace mds
