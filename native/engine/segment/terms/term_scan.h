// Reads the texts of one section's terms forward and can skip blocks. For callers that inspect many terms and
// use few. A term consists of the prefix that it shares with the previous one and the rest, as stored. The
// rest of its entry is decoded on demand. Damaged bytes end the scan. Used by one search on one thread. Valid
// while the snapshot is referenced.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "segment/terms/dictionary.h"

namespace mds {

class TermScan {
 public:
  // `begin` must be the first term of a block. The new object is positioned before the first term.
  TermScan(const TextColumn& blocks, uint32_t begin, uint32_t end) noexcept : blocks_(&blocks), next_(begin), end_(end), texts_({}), entries_({}) {}

  // Moves to the next term. Returns false at the end.
  [[nodiscard]] bool next() noexcept;
  // Number of bytes that the current term shares with the previous one (0 for the first one of a block), and
  // the bytes after them. Valid until next().
  [[nodiscard]] uint32_t shared() const noexcept { return texts_.shared(); }
  [[nodiscard]] std::string_view suffix() const noexcept { return texts_.suffix(); }
  // The entry of the current term.
  [[nodiscard]] const TermEntry& entry() noexcept;

  // Moves forward to the term `index` of the dictionary and sets `text` to its text. On entry `text` must be
  // the text of the last term moved to in this way. Returns false if the bytes before the term are damaged.
  [[nodiscard]] bool move_to(uint32_t index, std::string& text);

  // Whether the next term begins a block. Blocks can be skipped only there.
  [[nodiscard]] bool is_at_border() const noexcept { return next_ < end_ && next_ % kDictionaryBlockTerms == 0; }
  // The first term of the block that is `blocks` blocks behind that of the next term; empty if there is none.
  [[nodiscard]] std::string_view first_ahead(uint32_t blocks) const noexcept;
  // Skips the blocks whose terms are all below `target`.
  void pass_below(std::string_view target) noexcept;

 private:
  const TextColumn* blocks_;
  uint32_t next_;
  uint32_t end_;
  DictionaryBlock texts_;     // decodes texts, skips entries
  DictionaryBlock entries_;   // decodes entries, follows behind texts_
  uint32_t entriesRead_ = 0;  // number of entries read of the current block
  uint32_t textsRead_ = 0;
};

}  // namespace mds
