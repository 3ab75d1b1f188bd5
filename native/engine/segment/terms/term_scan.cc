// See term_scan.h.
#include "segment/terms/term_scan.h"

#include <algorithm>

namespace mds {

bool TermScan::next() noexcept {
  if (next_ >= end_) return false;
  if (next_ % kDictionaryBlockTerms == 0) {
    texts_ = entries_ = DictionaryBlock((*blocks_)[next_ / kDictionaryBlockTerms]);
    textsRead_ = entriesRead_ = 0;
  }
  if (!texts_.pass()) {
    next_ = end_;
    return false;
  }
  ++next_;
  ++textsRead_;
  return true;
}

const TermEntry& TermScan::entry() noexcept {
  for (; entriesRead_ < textsRead_; ++entriesRead_) (void)entries_.next();
  return entries_.entry();
}

bool TermScan::move_to(uint32_t index, std::string& text) {
  if (index / kDictionaryBlockTerms != next_ / kDictionaryBlockTerms) next_ = std::max(next_, index / kDictionaryBlockTerms * kDictionaryBlockTerms);
  while (next_ <= index) {
    if (!next()) return false;
    text.resize(shared());
    text += suffix();
  }
  return true;
}

std::string_view TermScan::first_ahead(uint32_t blocks) const noexcept {
  const uint32_t block = next_ / kDictionaryBlockTerms + blocks;
  return block * kDictionaryBlockTerms < end_ ? first_term((*blocks_)[block]) : std::string_view();
}

void TermScan::pass_below(std::string_view target) noexcept {
  const uint32_t blockEnd = (end_ + kDictionaryBlockTerms - 1) / kDictionaryBlockTerms;
  const uint32_t block = next_ / kDictionaryBlockTerms;
  if (block < blockEnd) next_ = std::max(next_, block_ahead(*blocks_, block, blockEnd, target) * kDictionaryBlockTerms);
}

}  // namespace mds
