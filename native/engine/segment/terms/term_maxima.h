// The maximum df of every run of terms of a section: of each dictionary block, of 16 blocks, of 16 of those,
// and so on. With them, the most frequent terms of any range of the dictionary are found by reading a few
// blocks. Computed in memory when a completion first needs them, and kept as long as the segment: a third of
// a byte per term. Any number of threads.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include "segment/segment_columns.h"
#include "segment/terms/dictionary.h"
#include "segment/text_column.h"

namespace mds {

// Number of runs of one level that form one run of the next level.
inline constexpr uint32_t kMaximaFanout = 16;

// By level, from the dictionary blocks of the section up to the level of at most kMaximaFanout runs.
using TermMaxima = std::vector<std::vector<uint32_t>>;

// Computes the maxima of terms [begin, end); `begin` must be the first term of a block.
[[nodiscard]] TermMaxima maxima_of(const TextColumn& blocks, uint32_t begin, uint32_t end);

// The maxima of a segment's sections.
class MaximaCache {
 public:
  [[nodiscard]] std::shared_ptr<const TermMaxima> of(const SectionEntry& section, const TextColumn& blocks);
  [[nodiscard]] uint64_t memory_bytes() const noexcept { return bytes_.load(std::memory_order_relaxed); }

 private:
  // Locked while maxima are computed: another thread that needs the same maxima waits for them.
  std::mutex mutex_;
  std::map<uint32_t, std::shared_ptr<const TermMaxima>> sections_;  // by the section's first term
  std::atomic<uint64_t> bytes_{0};
};

}  // namespace mds
