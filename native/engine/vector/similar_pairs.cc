// See similar_pairs.h.
#include "vector/similar_pairs.h"

#include <algorithm>
#include <tuple>

#include "vector/code_table.h"
#include "vector/vector_graph.h"

namespace mds {
namespace {

struct FirstChunk {
  uint32_t docid;
  uint32_t slot;
};

// By docid.
std::vector<FirstChunk> first_chunks(const SetView& view, uint32_t documentsMax) {
  std::vector<FirstChunk> chunks;
  for (uint32_t slot = 0; slot < view.slots; ++slot) {
    if (view.is_live(slot) && view.identity(slot).chunk == 0) chunks.push_back({view.identity(slot).docid, slot});
  }
  std::sort(chunks.begin(), chunks.end(), [](const FirstChunk& a, const FirstChunk& b) { return a.docid < b.docid; });
  if (chunks.size() > documentsMax) chunks.resize(documentsMax);
  return chunks;
}

class PairFinder {
 public:
  PairFinder(const SetView& view, double threshold, std::vector<FirstChunk> chunks, StopSignal& stop)
      : view_(view), threshold_(threshold), chunks_(std::move(chunks)), table_(view), stop_(stop) {}

  SimilarPairs find() {
    found_.documents = static_cast<uint32_t>(chunks_.size());
    const bool isSmall = chunks_.size() <= kPairsComparedMax || view_.graph == nullptr;
    for (uint32_t index = 0; index < chunks_.size() && !is_over(); ++index) {
      if (isSmall) {
        compare_with_later(index);
      } else {
        compare_with_nearest(index);
      }
    }
    found_.isComplete = !is_over();
    std::sort(found_.pairs.begin(), found_.pairs.end(),
              [](const SimilarPair& a, const SimilarPair& b) { return std::tie(a.first, a.second) < std::tie(b.first, b.second); });
    found_.pairs.erase(
        std::unique(found_.pairs.begin(), found_.pairs.end(), [](const SimilarPair& a, const SimilarPair& b) { return a.first == b.first && a.second == b.second; }),
        found_.pairs.end());
    return std::move(found_);
  }

 private:
  [[nodiscard]] bool is_over() noexcept { return stop_.stopped() || found_.pairs.size() >= kSimilarPairsMax; }

  // By the codes first, which leave little to the f32 vectors.
  void compare_with_later(uint32_t index) {
    const uint32_t slot = chunks_[index].slot;
    const VectorQuery query(VectorMetric::kCosine, {view_.full(slot), view_.dims});
    for (uint32_t later = index + 1; later < chunks_.size(); ++later) {
      const CodedVector& coded = view_.coded(chunks_[later].slot);
      const VectorQuery::Bounds bounds = query.bounds(vector_kernels().dot_i8(query.codes(), table_.codes(chunks_[later].slot), view_.dims), coded);
      if (bounds.rank + bounds.error >= threshold_) add(query, index, later);
      if (stop_.after(1)) return;
    }
  }

  void compare_with_nearest(uint32_t index) {
    const uint32_t slot = chunks_[index].slot;
    const VectorQuery query(VectorMetric::kCosine, {view_.full(slot), view_.dims});
    StopSignal none(nullptr);
    const SlotFilter all(view_, nullptr, none);
    std::vector<GraphCandidate> near;
    (void)view_.graph->search(all, query, kGraphExpansionSearch, view_.slots, near, stop_);
    for (const GraphCandidate& candidate : near) {
      const SlotIdentity& identity = view_.identity(candidate.slot);
      if (identity.chunk != 0 || identity.docid == chunks_[index].docid) continue;
      const auto other = std::lower_bound(chunks_.begin(), chunks_.end(), identity.docid, [](const FirstChunk& chunk, uint32_t docid) { return chunk.docid < docid; });
      if (other != chunks_.end() && other->docid == identity.docid) add(query, index, static_cast<uint32_t>(other - chunks_.begin()));
    }
    // Slots that the graph does not know yet.
    for (uint32_t later = 0; later < chunks_.size() && !stop_.after(1); ++later) {
      if (chunks_[later].slot >= view_.graph->slots() && later != index) add(query, index, later);
    }
  }

  void add(const VectorQuery& query, uint32_t index, uint32_t other) {
    const uint32_t slot = chunks_[other].slot;
    const double score = query.score(view_.full(slot), view_.coded(slot).norm).score;
    if (score >= threshold_) found_.pairs.push_back({std::min(chunks_[index].docid, chunks_[other].docid), std::max(chunks_[index].docid, chunks_[other].docid), score});
  }

  const SetView& view_;
  double threshold_;
  std::vector<FirstChunk> chunks_;
  CodeTable table_;
  StopSignal& stop_;
  SimilarPairs found_;
};

}  // namespace

SimilarPairs similar_pairs(const SetView& view, double threshold, uint32_t documentsMax, StopSignal& stop) {
  return PairFinder(view, threshold, first_chunks(view, documentsMax), stop).find();
}

}  // namespace mds
