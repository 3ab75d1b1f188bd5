// The ordered dictionary: terms front-coded in blocks of kDictionaryBlockTerms, each with the location of its
// postings. DictionaryWriter appends the blocks while a segment is written. DictionaryWalk reads them back in
// order, term_scan.h searches for some of them, and find_term, find_entry and entry_of perform single
// lookups. Blocks come from disk: every read is bounded by the block, and an invalid entry ends it. Layout:
// docs/formats/segment.md.
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
  uint32_t blockBegin = 0;  // index in `blocks`; a list of a single block has no entry there
};

// Appends the terms of a segment in order. `begin_section` starts a new block.
class DictionaryWriter {
 public:
  // Returns the index of the section's first term.
  [[nodiscard]] uint32_t begin_section(const SegmentColumns& columns) noexcept;
  void add(std::string_view term, const TermEntry& entry, SegmentColumns& columns);
  // Ends the last block. Must be called after the last term.
  void finish(SegmentColumns& columns);

 private:
  uint32_t sectionTerms_ = 0;
  bool isOpen_ = false;  // a block is open
  std::string termBefore_;
  TermEntry before_;
};

// Decodes the entries of one block sequentially.
class DictionaryBlock {
 public:
  explicit DictionaryBlock(Bytes bytes) noexcept;

  // Moves to the next entry. Returns false at the end of the block and at invalid bytes. Otherwise the
  // accessors below describe the entry. Its term is `shared()` bytes of the previous term, followed by
  // `suffix()`.
  [[nodiscard]] bool next() noexcept;
  // The same without decoding the entry. entry() and next() must not be called afterwards.
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

// Iterates over terms [begin, end) of one section.
class DictionaryWalk {
 public:
  DictionaryWalk(const TextColumn& blocks, uint32_t begin, uint32_t end) noexcept : blocks_(&blocks), next_(begin), end_(end), block_({}) {}

  [[nodiscard]] bool next();
  // Valid until next().
  [[nodiscard]] std::string_view term() const noexcept { return term_; }
  // Index of the current term in the dictionary.
  [[nodiscard]] uint32_t index() const noexcept { return next_ - 1; }
  [[nodiscard]] const TermEntry& entry() const noexcept { return block_.entry(); }

 private:
  const TextColumn* blocks_;
  uint32_t next_;  // a block begins if it is a multiple of kDictionaryBlockTerms
  uint32_t end_;
  DictionaryBlock block_;
  std::string term_;
};

// Returns the first term of a block. Every step of a lookup reads one and decodes only its text.
[[nodiscard]] std::string_view first_term(Bytes block) noexcept;
// Returns the last block of [begin, end) whose first term is <= `term`; `begin` if all are greater.
[[nodiscard]] uint32_t block_for(const TextColumn& blocks, uint32_t begin, uint32_t end, std::string_view term) noexcept;
// The same for a block that is usually near: exponential search, then bisection.
[[nodiscard]] uint32_t block_ahead(const TextColumn& blocks, uint32_t begin, uint32_t end, std::string_view term) noexcept;
// Return the index, or the entry, of `term` among terms [begin, end) of a section. O(log n).
[[nodiscard]] std::optional<uint32_t> find_term(const TextColumn& blocks, uint32_t begin, uint32_t end, std::string_view term) noexcept;
[[nodiscard]] std::optional<TermEntry> find_entry(const TextColumn& blocks, uint32_t begin, uint32_t end, std::string_view term) noexcept;
// Returns the entry of term `index`; df 0 if the block is damaged.
[[nodiscard]] TermEntry entry_of(const TextColumn& blocks, uint32_t index) noexcept;

}  // namespace mds
