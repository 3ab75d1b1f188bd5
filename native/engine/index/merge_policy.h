// Which segments to merge next. Pure: plain sizes in, indexes out.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace mds {

struct MergeCandidate {
  uint32_t index;      // of the caller
  uint64_t liveBytes;  // memory of the segment, scaled by its live share
  uint32_t documents;
  uint32_t deadDocuments;
};

// Quick merges never wait behind long ones: each lane has its own thread.
enum class MergeLane : uint8_t { kQuick, kLong };

// Indexes to merge (one index: a rewrite that drops dead documents), or nothing. `candidates` are the
// segments that no merge has claimed.
[[nodiscard]] std::vector<uint32_t> pick_merge(std::span<const MergeCandidate> candidates, MergeLane lane);

// The same for an index at rest, where a small and quick index is worth more work: until each segment is
// larger than kRestingShareDivisor times all smaller ones together, so that a trickle of writes between two
// rests never rewrites much more than itself.
[[nodiscard]] std::vector<uint32_t> pick_resting_merge(std::span<const MergeCandidate> candidates);

}  // namespace mds
