// See merge_policy.h; the constants and their arithmetic are in base/limits.h.
#include "index/merge_policy.h"

#include <algorithm>
#include <bit>

#include "base/limits.h"

namespace mds {
namespace {

uint32_t tier_of(uint64_t bytes) noexcept {
  static_assert(kTierFactor == 8, "a tier spans three bits");
  return static_cast<uint32_t>(std::bit_width(bytes / kTierFloorBytes) + 2) / 3;
}

uint64_t bytes_of(std::span<const MergeCandidate> members) noexcept {
  uint64_t bytes = 0;
  for (const MergeCandidate& member : members) bytes += member.liveBytes;
  return bytes;
}

bool fits(std::span<const MergeCandidate> members, MergeLane lane) noexcept {
  const uint64_t bytes = bytes_of(members);
  return lane == MergeLane::kQuick ? bytes <= kQuickMergeBytesMax : bytes > kQuickMergeBytesMax && bytes <= kMergedBytesMax;
}

std::vector<uint32_t> indexes(std::span<const MergeCandidate> members) {
  std::vector<uint32_t> picked;
  for (const MergeCandidate& member : members) picked.push_back(member.index);
  return picked;
}

}  // namespace

std::vector<uint32_t> pick_merge(std::span<const MergeCandidate> candidates, MergeLane lane) {
  std::vector<MergeCandidate> sorted(candidates.begin(), candidates.end());
  std::sort(sorted.begin(), sorted.end(), [](const MergeCandidate& a, const MergeCandidate& b) { return a.liveBytes < b.liveBytes; });
  const std::span<const MergeCandidate> all(sorted);

  // A full tier: its members are neighbours in the order of size.
  for (size_t begin = 0, end = 0; begin < all.size(); begin = end) {
    while (end < all.size() && tier_of(all[end].liveBytes) == tier_of(all[begin].liveBytes)) ++end;
    if (end - begin < kTierFactor) continue;
    const auto tier = all.subspan(begin, std::min<size_t>(end - begin, kMergeWidthMax));
    if (fits(tier, lane)) return indexes(tier);
  }
  for (const MergeCandidate& candidate : all) {
    if (candidate.deadDocuments > candidate.documents / kDeadShareDivisor && fits({&candidate, 1}, lane)) return {candidate.index};
  }
  if (all.size() > kSegmentsWanted) {
    // Half of what is wanted remains beside the result, so that the next merge is some publishes away.
    size_t width = std::min<size_t>(all.size() - kSegmentsWanted / 2, kMergeWidthMax);
    while (width > 2 && lane == MergeLane::kQuick && !fits(all.first(width), lane)) --width;
    if (fits(all.first(width), lane)) return indexes(all.first(width));
  }
  return {};
}

}  // namespace mds
