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

// Returns the smallest members, as many as `bytesMax` allows, but at least two.
std::span<const MergeCandidate> within(std::span<const MergeCandidate> members, uint64_t bytesMax) noexcept {
  uint64_t bytes = bytes_of(members);
  while (members.size() > 2 && bytes > bytesMax) {
    bytes -= members.back().liveBytes;
    members = members.first(members.size() - 1);
  }
  return members;
}

std::vector<MergeCandidate> by_size(std::span<const MergeCandidate> candidates) {
  std::vector<MergeCandidate> sorted(candidates.begin(), candidates.end());
  std::sort(sorted.begin(), sorted.end(), [](const MergeCandidate& a, const MergeCandidate& b) { return a.liveBytes < b.liveBytes; });
  return sorted;
}

std::vector<uint32_t> indexes(std::span<const MergeCandidate> members) {
  std::vector<uint32_t> picked;
  for (const MergeCandidate& member : members) picked.push_back(member.index);
  return picked;
}

}  // namespace

std::vector<uint32_t> pick_merge(std::span<const MergeCandidate> candidates, MergeLane lane) {
  const std::vector<MergeCandidate> sorted = by_size(candidates);
  const std::span<const MergeCandidate> all(sorted);

  // A full tier: its members are adjacent in the order of size.
  for (size_t begin = 0, end = 0; begin < all.size(); begin = end) {
    while (end < all.size() && tier_of(all[end].liveBytes) == tier_of(all[begin].liveBytes)) ++end;
    if (end - begin < kTierFactor) continue;
    // Limited to what fits one segment. Otherwise a tier that is too large as a whole would grow forever.
    const auto tier = within(all.subspan(begin, std::min<size_t>(end - begin, kMergeWidthMax)), kMergedBytesMax);
    if (fits(tier, lane)) return indexes(tier);
  }
  for (const MergeCandidate& candidate : all) {
    if (candidate.deadDocuments > candidate.documents / kDeadShareDivisor && fits({&candidate, 1}, lane)) return {candidate.index};
  }
  if (all.size() > kSegmentsWanted) {
    // Half of the wanted number remains besides the result, so that the next merge is due only after several
    // publishes.
    const size_t width = std::min<size_t>(all.size() - kSegmentsWanted / 2, kMergeWidthMax);
    const auto smallest = within(all.first(width), lane == MergeLane::kQuick ? kQuickMergeBytesMax : kMergedBytesMax);
    if (fits(smallest, lane)) return indexes(smallest);
  }
  return {};
}

std::vector<uint32_t> pick_resting_merge(std::span<const MergeCandidate> candidates) {
  const std::vector<MergeCandidate> sorted = by_size(candidates);
  std::span<const MergeCandidate> members(sorted);
  members = members.first(std::min<size_t>(members.size(), kMergeWidthMax));
  for (; members.size() > 1; members = members.first(members.size() - 1)) {
    const uint64_t bytes = bytes_of(members);
    const uint64_t largest = members.back().liveBytes;
    if (bytes <= kRestingMergeBytesMax && (bytes - largest) * kRestingShareDivisor >= largest) return indexes(members);
  }
  return {};
}

}  // namespace mds
