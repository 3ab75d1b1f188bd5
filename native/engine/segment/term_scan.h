// Reads the texts of one section's terms forward and passes blocks unread: for whoever looks at many terms and takes few. A term comes as what it shares with the one
// before and the rest, as it is stored; what else its entry says is decoded where it is asked for. Damaged bytes end the scan. Used by one search on one thread; valid
// while the snapshot is referenced.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "segment/dictionary.h"

namespace mds {

class TermScan {
 public:
  // `begin` begins a block. Stands before the first term.
  TermScan(const TextColumn& blocks, uint32_t begin, uint32_t end) noexcept : blocks_(&blocks), next_(begin), end_(end), texts_({}), entries_({}) {}

  // Moves to the next term. False at the end.
  [[nodiscard]] bool next() noexcept;
  // Bytes that the present term has in common with the one before, 0 for the first one of a block; and what follows them. Valid until next().
  [[nodiscard]] uint32_t shared() const noexcept { return texts_.shared(); }
  [[nodiscard]] std::string_view suffix() const noexcept { return texts_.suffix(); }
  // Of the present term.
  [[nodiscard]] const TermEntry& entry() noexcept;

  // Moves forward to the term `index` of the dictionary and makes `text` its text. `text` is that of the last term so moved to. False where the bytes before are damaged.
  [[nodiscard]] bool move_to(uint32_t index, std::string& text);

  // Whether the next term begins a block: only then may blocks be passed.
  [[nodiscard]] bool is_at_border() const noexcept { return next_ < end_ && next_ % kDictionaryBlockTerms == 0; }
  // The first term of the next block, and of the one behind it; empty where there is none.
  [[nodiscard]] std::string_view first_ahead(uint32_t blocks) const noexcept;
  // Passes the blocks of which all terms are below `target`.
  void pass_below(std::string_view target) noexcept;

 private:
  const TextColumn* blocks_;
  uint32_t next_;
  uint32_t end_;
  DictionaryBlock texts_;     // passes entries
  DictionaryBlock entries_;   // decodes them, behind it
  uint32_t entriesRead_ = 0;  // of the present block
  uint32_t textsRead_ = 0;
};

}  // namespace mds
