// The highest df of every run of terms of a section: of each dictionary block, of 16 blocks, of 16 of those and so on. So the commonest terms of any range of the
// dictionary are found by reading a few blocks of it. Made in memory when a completion first wants them and kept as long as the segment: a third of a byte a term. Any
// number of threads.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "segment/dictionary.h"
#include "segment/segment_columns.h"
#include "segment/text_column.h"

namespace mds {

// Runs of one level that make one of the next.
inline constexpr uint32_t kMaximaFanout = 16;

// By level, from the dictionary blocks of the section up to the level of kMaximaFanout runs at most.
using TermMaxima = std::vector<std::vector<uint32_t>>;

// Of terms [begin, end); `begin` begins a block.
[[nodiscard]] TermMaxima maxima_of(const TextColumn& blocks, uint32_t begin, uint32_t end);

// Those of a segment's sections.
class MaximaCache {
 public:
  [[nodiscard]] std::shared_ptr<const TermMaxima> of(const SectionEntry& section, const TextColumn& blocks);
  [[nodiscard]] uint64_t memory_bytes() const noexcept { return bytes_.load(std::memory_order_relaxed); }

 private:
  std::mutex mutex_;                                                // held while some are made: who wants the same would make them, too
  std::map<uint32_t, std::shared_ptr<const TermMaxima>> sections_;  // by their first term
  std::atomic<uint64_t> bytes_{0};
};

}  // namespace mds
