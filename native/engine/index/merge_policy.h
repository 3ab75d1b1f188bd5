// Selects the segments to merge next. Pure: sizes in, indexes out.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace mds {

struct MergeCandidate {
  uint32_t index;      // the caller's index of the segment
  uint64_t liveBytes;  // size of the segment, scaled by its live share
  uint32_t documents;
  uint32_t deadDocuments;
};

// Quick merges never wait for long ones: each lane has its own thread.
enum class MergeLane : uint8_t { kQuick, kLong };

// Returns the indexes to merge (a single index: a rewrite that drops dead documents), or none. `candidates`
// are the segments that no merge has claimed.
[[nodiscard]] std::vector<uint32_t> pick_merge(std::span<const MergeCandidate> candidates, MergeLane lane);

// The same for an index at rest, for which a smaller and faster index is worth more work. Merges until each
// segment is larger than kRestingShareDivisor times the sum of all smaller ones, so that a few writes between
// two rests never cause a rewrite of much more than themselves.
[[nodiscard]] std::vector<uint32_t> pick_resting_merge(std::span<const MergeCandidate> candidates);

}  // namespace mds
