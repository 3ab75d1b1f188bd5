// See term_maxima.h.
#include "segment/terms/term_maxima.h"

#include <algorithm>
#include <utility>

#include "base/limits.h"

namespace mds {

TermMaxima maxima_of(const TextColumn& blocks, uint32_t begin, uint32_t end) {
  TermMaxima levels(1);
  for (uint32_t at = begin; at < end; at += kDictionaryBlockTerms) {
    DictionaryBlock block(blocks[at / kDictionaryBlockTerms]);
    uint32_t highest = 0;
    while (block.next()) highest = std::max(highest, block.entry().df);
    levels.front().push_back(highest);
  }
  while (levels.back().size() > kMaximaFanout) {
    const std::vector<uint32_t>& below = levels.back();
    std::vector<uint32_t> level((below.size() + kMaximaFanout - 1) / kMaximaFanout);
    for (size_t at = 0; at < below.size(); ++at) level[at / kMaximaFanout] = std::max(level[at / kMaximaFanout], below[at]);
    levels.push_back(std::move(level));
  }
  return levels;
}

std::shared_ptr<const TermMaxima> MaximaCache::of(const SectionEntry& section, const TextColumn& blocks) {
  const std::lock_guard lock(mutex_);
  std::shared_ptr<const TermMaxima>& known = sections_[section.termBegin];
  if (known != nullptr) return known;
  known = std::make_shared<const TermMaxima>(maxima_of(blocks, section.termBegin, section.termEnd));
  uint64_t bytes = 0;
  for (const std::vector<uint32_t>& level : *known) bytes += level.capacity() * sizeof(uint32_t);
  bytes_.fetch_add(bytes, std::memory_order_relaxed);
  return known;
}

}  // namespace mds
