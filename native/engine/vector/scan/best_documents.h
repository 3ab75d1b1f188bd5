// Collects the k best of the added documents, each scored by its best chunk. Candidates are collected and cut
// periodically, so that the cost of an addition is negligible. Used by one search on one thread.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <vector>

namespace mds {

struct VectorCandidate {
  double score;
  uint32_t docid;
  uint32_t slot;
};

// Orders better candidates first. Ties are broken by docid, then by slot.
[[nodiscard]] inline bool is_better(const VectorCandidate& a, const VectorCandidate& b) noexcept {
  if (a.score != b.score) return a.score > b.score;
  return a.docid != b.docid ? a.docid < b.docid : a.slot < b.slot;
}

class BestDocuments {
 public:
  explicit BestDocuments(size_t most) noexcept : most_(most) {}

  // A document with a score below the bound is not among the best.
  [[nodiscard]] double bound() const noexcept { return bound_; }

  void add(const VectorCandidate& candidate) {
    if (candidate.score < bound_) return;
    candidates_.push_back(candidate);
    if (candidates_.size() >= 2 * most_ + kGathered) (void)cut();
  }

  // Returns one candidate per document, best first, at most `most`. More candidates may be added afterwards.
  [[nodiscard]] const std::vector<VectorCandidate>& cut() {
    std::sort(candidates_.begin(), candidates_.end(),
              [](const VectorCandidate& a, const VectorCandidate& b) { return a.docid != b.docid ? a.docid < b.docid : is_better(a, b); });
    candidates_.erase(std::unique(candidates_.begin(), candidates_.end(), [](const VectorCandidate& a, const VectorCandidate& b) { return a.docid == b.docid; }),
                      candidates_.end());
    const size_t kept = std::min(most_, candidates_.size());
    std::partial_sort(candidates_.begin(), candidates_.begin() + static_cast<std::ptrdiff_t>(kept), candidates_.end(), is_better);
    candidates_.resize(kept);
    if (kept == most_ && kept > 0) bound_ = candidates_.back().score;
    return candidates_;
  }

 private:
  static constexpr size_t kGathered = 64;

  size_t most_;
  double bound_ = -std::numeric_limits<double>::infinity();
  std::vector<VectorCandidate> candidates_;
};

}  // namespace mds
