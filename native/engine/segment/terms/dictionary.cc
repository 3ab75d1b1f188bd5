// See dictionary.h.
#include "segment/terms/dictionary.h"

#include <algorithm>

#include "base/limits.h"

namespace mds {
namespace {

void put_varint(std::vector<uint8_t>& out, uint64_t value) {
  for (; value >= 0x80; value >>= 7) out.push_back(static_cast<uint8_t>(value | 0x80));
  out.push_back(static_cast<uint8_t>(value));
}

void put_text(std::vector<uint8_t>& out, std::string_view text) {
  put_varint(out, text.size());
  out.insert(out.end(), text.begin(), text.end());
}

// Encodes a byte range that usually begins where the previous one ended: its size, doubled, plus 1 if a gap
// precedes it.
void put_range(std::vector<uint8_t>& out, uint64_t endBefore, uint64_t begin, uint64_t end) {
  const bool hasGap = begin != endBefore;
  put_varint(out, (end - begin) * 2 + (hasGap ? 1 : 0));
  if (hasGap) put_varint(out, begin - endBefore);
}

uint32_t blocks_of(uint32_t df) noexcept { return df > kBlockPostings ? (df + kBlockPostings - 1) / kBlockPostings : 0; }

size_t common_prefix(std::string_view a, std::string_view b) noexcept {
  return static_cast<size_t>(std::mismatch(a.begin(), a.begin() + static_cast<ptrdiff_t>(std::min(a.size(), b.size())), b.begin()).first - a.begin());
}

}  // namespace

std::string_view first_term(Bytes block) noexcept {
  uint64_t size = 0;
  size_t at = 0;
  for (uint32_t shift = 0; shift < 35 && at < block.size(); shift += 7) {
    const uint8_t byte = block[at++];
    size |= uint64_t{byte & 0x7FU} << shift;
    if (byte < 0x80) break;
  }
  return as_text(block.subspan(at, static_cast<size_t>(std::min<uint64_t>(size, block.size() - at))));
}

uint32_t block_for(const TextColumn& blocks, uint32_t begin, uint32_t end, std::string_view term) noexcept {
  while (end - begin > 1) {
    const uint32_t middle = begin + (end - begin) / 2;
    if (first_term(blocks[middle]) <= term) {
      begin = middle;
    } else {
      end = middle;
    }
  }
  return begin;
}

uint32_t block_ahead(const TextColumn& blocks, uint32_t begin, uint32_t end, std::string_view term) noexcept {
  uint32_t step = 1;
  while (step < end - begin && first_term(blocks[begin + step]) <= term) {
    begin += step;
    step *= 2;
  }
  return block_for(blocks, begin, std::min(begin + step, end), term);
}

uint32_t DictionaryWriter::begin_section(const SegmentColumns& columns) noexcept {
  sectionTerms_ = 0;
  return static_cast<uint32_t>(columns.dictionaryEnds.size() + (isOpen_ ? 1 : 0)) * kDictionaryBlockTerms;
}

void DictionaryWriter::add(std::string_view term, const TermEntry& entry, SegmentColumns& columns) {
  std::vector<uint8_t>& out = columns.dictionary;
  if (sectionTerms_++ % kDictionaryBlockTerms == 0) {
    if (isOpen_) columns.dictionaryEnds.push_back(static_cast<uint32_t>(out.size()));
    isOpen_ = true;
    put_text(out, term);
    before_ = {};
    before_.postingsEnd = entry.postingsBegin;
    before_.positionsEnd = entry.positionsBegin;
    put_varint(out, entry.postingsBegin);
    put_varint(out, entry.positionsBegin);
    put_varint(out, entry.blockBegin);
  } else {
    const size_t shared = common_prefix(termBefore_, term);
    put_varint(out, shared);
    put_text(out, term.substr(shared));
  }
  put_varint(out, entry.df);
  put_range(out, before_.postingsEnd, entry.postingsBegin, entry.postingsEnd);
  put_range(out, before_.positionsEnd, entry.positionsBegin, entry.positionsEnd);
  termBefore_ = term;
  before_ = entry;
}

void DictionaryWriter::finish(SegmentColumns& columns) {
  if (isOpen_) columns.dictionaryEnds.push_back(static_cast<uint32_t>(columns.dictionary.size()));
  isOpen_ = false;
}

DictionaryBlock::DictionaryBlock(Bytes bytes) noexcept : bytes_(bytes) {}

uint64_t DictionaryBlock::varint() noexcept {
  if (at_ < bytes_.size() && bytes_[at_] < 0x80) return bytes_[at_++];
  uint64_t value = 0;
  for (uint32_t shift = 0; shift < 64 && at_ < bytes_.size(); shift += 7) {
    const uint8_t byte = bytes_[at_++];
    value |= uint64_t{byte & 0x7FU} << shift;
    if (byte < 0x80) return value;
  }
  failed_ = true;
  return 0;
}

bool DictionaryBlock::next_text() noexcept {
  if (failed_ || at_ == bytes_.size()) return false;
  const uint64_t shared = isFirst_ ? 0 : varint();
  const uint64_t suffix = varint();
  if (failed_ || shared > termBytes_ || suffix > bytes_.size() - at_) {
    failed_ = true;
    return false;
  }
  shared_ = static_cast<uint32_t>(shared);
  suffix_ = as_text(bytes_.subspan(at_, static_cast<size_t>(suffix)));
  termBytes_ = static_cast<uint32_t>(shared + suffix);
  at_ += static_cast<size_t>(suffix);
  return true;
}

bool DictionaryBlock::pass() noexcept {
  if (!next_text()) return false;
  if (isFirst_) {
    for (uint32_t number = 0; number < 3; ++number) (void)varint();
    isFirst_ = false;
  }
  // Most terms are rare: three numbers of one byte each, and no gap.
  if (bytes_.size() - at_ >= 3 && (bytes_[at_] | bytes_[at_ + 1] | bytes_[at_ + 2]) < 0x80 && ((bytes_[at_ + 1] | bytes_[at_ + 2]) & 1) == 0) {
    at_ += 3;
    return true;
  }
  (void)varint();
  if ((varint() & 1) != 0) (void)varint();
  if ((varint() & 1) != 0) (void)varint();
  return !failed_;
}

bool DictionaryBlock::next() noexcept {
  if (!next_text()) return false;
  if (isFirst_) {
    entry_.postingsEnd = varint();
    entry_.positionsEnd = varint();
    entry_.blockBegin = static_cast<uint32_t>(varint());
    isFirst_ = false;
  } else {
    entry_.blockBegin += blocks_of(entry_.df);
  }
  entry_.df = static_cast<uint32_t>(varint());
  const uint64_t postings = varint();
  entry_.postingsBegin = entry_.postingsEnd + ((postings & 1) != 0 ? varint() : 0);
  entry_.postingsEnd = entry_.postingsBegin + postings / 2;
  const uint64_t positions = varint();
  entry_.positionsBegin = entry_.positionsEnd + ((positions & 1) != 0 ? varint() : 0);
  entry_.positionsEnd = entry_.positionsBegin + positions / 2;
  return !failed_;
}

bool DictionaryWalk::next() {
  if (next_ >= end_) return false;
  if (next_ % kDictionaryBlockTerms == 0) block_ = DictionaryBlock((*blocks_)[next_ / kDictionaryBlockTerms]);
  if (!block_.next()) {
    next_ = end_;
    return false;
  }
  ++next_;
  term_.resize(block_.shared());
  term_ += block_.suffix();
  return true;
}

namespace {

struct Found {
  uint32_t index;
  TermEntry entry;
};

std::optional<Found> find(const TextColumn& blocks, uint32_t begin, uint32_t end, std::string_view term) noexcept {
  if (begin >= end) return std::nullopt;
  const uint32_t blockEnd = (end + kDictionaryBlockTerms - 1) / kDictionaryBlockTerms;
  const uint32_t number = block_for(blocks, begin / kDictionaryBlockTerms, blockEnd, term);
  DictionaryBlock block(blocks[number]);
  // `matched`: length in bytes of the common prefix of `term` and the previous entry. The previous entry
  // sorts before `term`. An entry that shares more bytes with it therefore also sorts before `term`, and one
  // that shares fewer sorts after it.
  size_t matched = 0;
  for (uint32_t index = number * kDictionaryBlockTerms; index < end && block.next(); ++index) {
    if (block.shared() > matched) continue;
    if (block.shared() < matched) return std::nullopt;
    const std::string_view rest = term.substr(matched);
    const std::string_view suffix = block.suffix();
    if (suffix == rest) return Found{index, block.entry()};
    if (suffix > rest) return std::nullopt;
    matched += common_prefix(suffix, rest);
  }
  return std::nullopt;
}

}  // namespace

std::optional<uint32_t> find_term(const TextColumn& blocks, uint32_t begin, uint32_t end, std::string_view term) noexcept {
  const std::optional<Found> found = find(blocks, begin, end, term);
  return found ? std::optional(found->index) : std::nullopt;
}

std::optional<TermEntry> find_entry(const TextColumn& blocks, uint32_t begin, uint32_t end, std::string_view term) noexcept {
  const std::optional<Found> found = find(blocks, begin, end, term);
  return found ? std::optional(found->entry) : std::nullopt;
}

TermEntry entry_of(const TextColumn& blocks, uint32_t index) noexcept {
  DictionaryBlock block(blocks[index / kDictionaryBlockTerms]);
  for (uint32_t skip = index % kDictionaryBlockTerms; skip > 0; --skip) {
    if (!block.next()) return {};
  }
  return block.next() ? block.entry() : TermEntry{};
}

}  // namespace mds
