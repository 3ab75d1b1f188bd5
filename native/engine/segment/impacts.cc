// See impacts.h.
#include "segment/impacts.h"

#include <algorithm>

namespace mds {
namespace {

// Frequencies from this value on share one pair: they are rare, and the score increases little beyond it.
constexpr uint32_t kTfsApart = 32;

struct Pair {
  uint32_t tf;
  uint32_t length;
};

// The conversion to float rounds to the nearest value. If that is below `value`, the next float is used.
uint32_t upper_half_up(uint32_t value) noexcept {
  const auto rounded = static_cast<float>(value);
  const uint32_t bits = std::bit_cast<uint32_t>(rounded);
  return ((static_cast<double>(rounded) < value ? bits + 1 : bits) + 0xFFFF) & 0xFFFF0000;
}

uint32_t upper_half_down(uint32_t value) noexcept {
  const auto rounded = static_cast<float>(value);
  const uint32_t bits = std::bit_cast<uint32_t>(rounded);
  return (static_cast<double>(rounded) > value ? bits - 1 : bits) >> 16;
}

// The score of a pair under the usual constants of BM25. Used only to choose which pairs are merged.
double worth(Pair pair, double averageLength) noexcept { return pair.tf / (pair.tf + 1.2 * (0.25 + 0.75 * pair.length / averageLength)); }

// Finds the pairs that no other pair dominates, by descending frequency and descending length. Returns their
// number.
uint32_t find_front(std::span<const uint32_t> tfs, std::span<const uint32_t> lengths, std::array<Pair, kTfsApart + 1>& front) noexcept {
  std::array<uint32_t, kTfsApart + 1> lengthMin;
  lengthMin.fill(UINT32_MAX);
  uint32_t tfMax = 0;
  for (size_t index = 0; index < tfs.size(); ++index) {
    uint32_t& length = lengthMin[std::min(tfs[index], kTfsApart)];
    length = std::min(length, lengths[index]);
    tfMax = std::max(tfMax, tfs[index]);
  }
  uint32_t count = 0;
  uint32_t shortest = UINT32_MAX;
  for (uint32_t tf = kTfsApart + 1; tf-- > 0;) {
    if (lengthMin[tf] >= shortest) continue;
    shortest = lengthMin[tf];
    front[count++] = {tf == kTfsApart ? tfMax : tf, shortest};
  }
  return count;
}

}  // namespace

Impacts make_impacts(std::span<const uint32_t> tfs, std::span<const uint32_t> lengths, double averageLength) noexcept {
  std::array<Pair, kTfsApart + 1> front;
  uint32_t count = find_front(tfs, lengths, front);
  // Merges the two neighbours for which the bound rises least.
  while (count > kImpacts) {
    uint32_t best = 0;
    double leastRise = 2;
    for (uint32_t index = 0; index + 1 < count; ++index) {
      const double rise =
          worth({front[index].tf, front[index + 1].length}, averageLength) - std::max(worth(front[index], averageLength), worth(front[index + 1], averageLength));
      if (rise < leastRise) {
        leastRise = rise;
        best = index;
      }
    }
    front[best].length = front[best + 1].length;
    std::copy(front.begin() + best + 2, front.begin() + count, front.begin() + best + 1);
    --count;
  }
  Impacts impacts{};
  for (uint32_t index = 0; index < kImpacts; ++index) {
    const Pair pair = front[std::min(index, count - 1)];
    impacts[index] = upper_half_up(pair.tf) | upper_half_down(pair.length);
  }
  return impacts;
}

}  // namespace mds
