// The ordered dictionary: terms front-coded in blocks of kDictionaryBlockTerms, each with the location of its
// postings. DictionaryWriter appends the blocks while a segment is written; DictionaryWalk reads them back in
// order, term_scan.h searches for some of them; find and entry_of serve single lookups. Blocks come from
// disk: every read is bounded by the block, and an invalid entry ends it. Layout: docs/formats/segment.md.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/bytes.h"
#include "segment/segment_columns.h"
#include "segment/text_column.h"

namespace mds {

// One term's postings: byte ranges in the columns `postings` and `positions`.
struct TermEntry {
  uint64_t postingsBegin = 0;
  uint64_t postingsEnd = 0;
  uint64_t positionsBegin = 0;
  uint64_t positionsEnd = 0;
  uint32_t df = 0;
  uint32_t blockBegin = 0;  // into `blocks`; lists of a single block have none there
};

// Appends the terms of a segment in their order. `begin_section` starts a new block.
class DictionaryWriter {
 public:
  // Index of the section's first term.
  [[nodiscard]] uint32_t begin_section(const SegmentColumns& columns) noexcept;
  void add(std::string_view term, const TermEntry& entry, SegmentColumns& columns);
  // Ends the last block. Call it after the last term.
  void finish(SegmentColumns& columns);

 private:
  uint32_t sectionTerms_ = 0;
  bool isOpen_ = false;  // a block has been begun
  std::string termBefore_;
  TermEntry before_;
};

// Reads the entries of one block, one after the other.
class DictionaryBlock {
 public:
  explicit DictionaryBlock(Bytes bytes) noexcept;

  // False at the end of the block and at invalid bytes. Otherwise the fields below describe the entry; its
  // term is `shared()` bytes of the previous one, then `suffix()`.
  [[nodiscard]] bool next() noexcept;
  // The same without decoding the entry: entry() and next() must not be called afterwards.
  [[nodiscard]] bool pass() noexcept;
  [[nodiscard]] uint32_t shared() const noexcept { return shared_; }
  [[nodiscard]] std::string_view suffix() const noexcept { return suffix_; }
  [[nodiscard]] const TermEntry& entry() const noexcept { return entry_; }

 private:
  [[nodiscard]] uint64_t varint() noexcept;
  [[nodiscard]] bool next_text() noexcept;

  Bytes bytes_;
  size_t at_ = 0;
  bool failed_ = false;
  bool isFirst_ = true;
  uint32_t shared_ = 0;
  uint32_t termBytes_ = 0;
  std::string_view suffix_;
  TermEntry entry_;
};

// Walks terms [begin, end) of one section.
class DictionaryWalk {
 public:
  DictionaryWalk(const TextColumn& blocks, uint32_t begin, uint32_t end) noexcept : blocks_(&blocks), next_(begin), end_(end), block_({}) {}

  [[nodiscard]] bool next();
  // Valid until next().
  [[nodiscard]] std::string_view term() const noexcept { return term_; }
  // Of the current term, in the dictionary.
  [[nodiscard]] uint32_t index() const noexcept { return next_ - 1; }
  [[nodiscard]] const TermEntry& entry() const noexcept { return block_.entry(); }

 private:
  const TextColumn* blocks_;
  uint32_t next_;  // a block begins where it is a multiple of kDictionaryBlockTerms
  uint32_t end_;
  DictionaryBlock block_;
  std::string term_;
};

// The first term of a block. Every step of a lookup reads one and decodes nothing but its text.
[[nodiscard]] std::string_view first_term(Bytes block) noexcept;
// The last block of [begin, end) whose first term is not above `term`; `begin` where all are above.
[[nodiscard]] uint32_t block_for(const TextColumn& blocks, uint32_t begin, uint32_t end, std::string_view term) noexcept;
// The same where the block is usually near: doubling steps, then bisection.
[[nodiscard]] uint32_t block_ahead(const TextColumn& blocks, uint32_t begin, uint32_t end, std::string_view term) noexcept;
// Index of `term` among terms [begin, end) of a section, O(log n); its entry.
[[nodiscard]] std::optional<uint32_t> find_term(const TextColumn& blocks, uint32_t begin, uint32_t end, std::string_view term) noexcept;
[[nodiscard]] std::optional<TermEntry> find_entry(const TextColumn& blocks, uint32_t begin, uint32_t end, std::string_view term) noexcept;
// The entry of term `index`; df 0 where the block is damaged.
[[nodiscard]] TermEntry entry_of(const TextColumn& blocks, uint32_t index) noexcept;

}  // namespace mds
