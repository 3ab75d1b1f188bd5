// Iterates over one posting list of one segment in slot order, block by block. Not thread-safe. Valid only
// while the segment is referenced. A block that exceeds its list's bytes ends the list.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "base/limits.h"
#include "segment/postings/posting_list.h"

namespace mds {

class PostingCursor {
 public:
  // Positioned on the first posting.
  PostingCursor(const Segment& segment, const SectionEntry& section, const TermEntry& entry) noexcept : list_(segment, section, entry) { load_block(0); }
  PostingCursor(const Segment& segment, const SectionEntry& section, uint32_t term) noexcept : PostingCursor(segment, section, segment.term_entry(term)) {}

  // Slot of the current posting; kEndOfList past the last one.
  [[nodiscard]] uint32_t doc() const noexcept { return doc_; }
  [[nodiscard]] uint32_t df() const noexcept { return list_.df(); }
  // Requires doc() != kEndOfList.
  [[nodiscard]] uint32_t tf() noexcept {
    if (!tfsDecoded_) load_tfs();
    return tfs_[index_];
  }
  // Writes the positions of the current posting, ascending, to `out`, which is cleared first. Text sections
  // only.
  void positions(std::vector<uint32_t>& out);

  void next() noexcept {
    if (++index_ < count_) {
      doc_ = slots_[index_];
    } else {
      load_block(block_ + 1);
    }
  }
  // Moves to the first posting with slot >= target. Does not move if doc() >= target already.
  void advance(uint32_t target) noexcept;

  // The rest of the current block, for loops over many postings: slots and tfs from the current posting on.
  // `skip(n)` skips n of them.
  [[nodiscard]] std::span<const uint32_t> block_slots() const noexcept { return std::span(slots_).subspan(index_, count_ - index_); }
  [[nodiscard]] std::span<const uint32_t> block_tfs() noexcept {
    if (!tfsDecoded_) load_tfs();
    return std::span(tfs_).subspan(index_, count_ - index_);
  }
  void skip(uint32_t postings) noexcept {
    index_ += postings - 1;
    next();
  }

 private:
  void load_block(uint32_t block) noexcept;
  void load_tfs() noexcept;
  void end_list() noexcept;

  PostingList list_;
  PackedBlock packed_{};
  PackedPositions packedPositions_{};
  bool hasPositions_ = false;        // whether packedPositions_ is loaded; done when first needed
  std::vector<uint8_t> straddling_;  // positions of a block that is larger than a chunk
  uint32_t block_ = 0;
  uint32_t index_ = 0;
  uint32_t count_ = 0;
  uint32_t doc_ = kEndOfList;
  bool tfsDecoded_ = false;
  uint32_t positionsIndex_ = 0;   // number of tfs summed in positionsBefore_
  uint64_t positionsBefore_ = 0;  // running sum: reading all positions in order is linear
  std::array<uint32_t, kBlockPostings> slots_;
  std::array<uint32_t, kBlockPostings> tfs_;
};

}  // namespace mds
