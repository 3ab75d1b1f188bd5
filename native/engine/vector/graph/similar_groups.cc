// See similar_groups.h.
#include "vector/graph/similar_groups.h"

#include <algorithm>
#include <numeric>

#include "vector/graph/code_table.h"
#include "vector/graph/vector_graph.h"

namespace mds {
namespace {

struct FirstChunk {
  uint32_t docid;
  uint32_t slot;
};

// Sorted by docid.
std::vector<FirstChunk> first_chunks(const SetView& view, uint32_t docidMax) {
  std::vector<FirstChunk> chunks;
  for (uint32_t slot = 0; slot < view.slots; ++slot) {
    if (!view.is_live(slot)) continue;
    const SlotIdentity& identity = view.identity(slot);
    if (identity.chunk == 0 && identity.docid <= docidMax) chunks.push_back({identity.docid, slot});
  }
  std::sort(chunks.begin(), chunks.end(), [](const FirstChunk& a, const FirstChunk& b) { return a.docid < b.docid; });
  if (chunks.size() > kSimilarDocumentsMax) chunks.resize(kSimilarDocumentsMax);
  return chunks;
}

// Groups of the members 0 to n - 1, joined by pairs. Union-find in which the smallest member is the root of
// its group.
class JoinedPairs {
 public:
  explicit JoinedPairs(size_t members) : parents_(members), best_(members, kNone), sums_(members), pairs_(members) { std::iota(parents_.begin(), parents_.end(), 0U); }

  void join(uint32_t one, uint32_t other, double score) {
    best_[one] = std::max(best_[one], score);
    best_[other] = std::max(best_[other], score);
    const uint32_t a = root_of(one);
    const uint32_t b = root_of(other);
    const uint32_t root = std::min(a, b);
    const uint32_t joined = std::max(a, b);
    if (root != joined) {
      parents_[joined] = root;
      sums_[root] += sums_[joined];
      pairs_[root] += pairs_[joined];
    }
    sums_[root] += score;
    ++pairs_[root];
  }

  // Halves the path to make later lookups faster.
  [[nodiscard]] uint32_t root_of(uint32_t member) noexcept {
    while (parents_[member] != member) {
      parents_[member] = parents_[parents_[member]];
      member = parents_[member];
    }
    return member;
  }

  [[nodiscard]] bool is_joined(uint32_t member) const noexcept { return best_[member] != kNone; }
  [[nodiscard]] double best(uint32_t member) const noexcept { return best_[member]; }
  [[nodiscard]] double mean(uint32_t root) const noexcept { return sums_[root] / static_cast<double>(pairs_[root]); }

 private:
  static constexpr double kNone = -2;  // below every cosine
  std::vector<uint32_t> parents_;
  std::vector<double> best_;
  std::vector<double> sums_;  // of a root: the sum of the scores of its group's pairs
  std::vector<uint64_t> pairs_;
};

class GroupFinder {
 public:
  GroupFinder(const SetView& view, double threshold, std::vector<FirstChunk> chunks, StopSignal& stop)
      : view_(view), threshold_(threshold), chunks_(std::move(chunks)), table_(view), stop_(stop), joined_(chunks_.size()) {}

  SimilarGroups find() {
    if (chunks_.size() <= kPairsComparedMax || view_.graph == nullptr) {
      compare_all();
    } else {
      compare_with_nearest();
    }
    SimilarGroups groups;
    groups.looked = static_cast<uint32_t>(chunks_.size());
    groups.isComplete = !stop_.stopped();
    for (uint32_t index = 0; index < chunks_.size(); ++index) {
      if (!joined_.is_joined(index)) continue;
      const uint32_t root = joined_.root_of(index);
      groups.documents.push_back({chunks_[index].docid, chunks_[root].docid, joined_.best(index), joined_.mean(root)});
    }
    return groups;
  }

 private:
  [[nodiscard]] VectorQuery query_of(uint32_t index) const { return {VectorMetric::kCosine, {view_.full(chunks_[index].slot), view_.dims}}; }

  void compare_all() {
    std::vector<uint32_t> later(chunks_.size());
    std::iota(later.begin(), later.end(), 0U);
    for (uint32_t index = 0; index < chunks_.size() && !stop_.stopped(); ++index) compare(query_of(index), index, later.data() + index + 1, later.data() + later.size());
  }

  // Compares the codes first. They exclude most pairs without a read of the f32 vectors.
  void compare(const VectorQuery& query, uint32_t index, const uint32_t* other, const uint32_t* end) {
    for (; other != end; ++other) {
      const uint32_t slot = chunks_[*other].slot;
      const VectorQuery::Bounds bounds = query.bounds(vector_kernels().dot_i8(query.codes(), table_.codes(slot), view_.dims), view_.coded(slot));
      if (bounds.rank + bounds.error >= threshold_) add(query, index, *other);
      if (stop_.after(1)) return;
    }
  }

  // A pair is found from both of its ends. The second occurrence is skipped.
  void compare_with_nearest() {
    std::vector<uint32_t> tail;  // slots that are not in the graph yet; compared with each other
    for (uint32_t index = 0; index < chunks_.size(); ++index) {
      if (chunks_[index].slot >= view_.graph->slots()) tail.push_back(index);
    }
    std::vector<std::vector<uint32_t>> later(chunks_.size());
    for (uint32_t index = 0, inTail = 0; index < chunks_.size() && !stop_.stopped(); ++index) {
      const VectorQuery query = query_of(index);
      for (const uint32_t other : nearest(query)) {
        if (other == index || (other < index && std::binary_search(later[other].begin(), later[other].end(), index))) continue;
        if (add(query, index, other) && other > index) later[index].push_back(other);
      }
      std::sort(later[index].begin(), later[index].end());
      if (inTail == tail.size() || tail[inTail] != index) continue;
      ++inTail;
      compare(query, index, tail.data() + inTail, tail.data() + tail.size());
    }
  }

  [[nodiscard]] std::vector<uint32_t> nearest(const VectorQuery& query) {
    StopSignal none(nullptr);
    const SlotFilter all(view_, nullptr, none);
    std::vector<GraphCandidate> near;
    (void)view_.graph->search(all, query, kGraphExpansionSearch, view_.slots, near, stop_);
    std::vector<uint32_t> indexes;
    for (const GraphCandidate& candidate : near) {
      const SlotIdentity& identity = view_.identity(candidate.slot);
      if (identity.chunk != 0) continue;
      const auto other = std::lower_bound(chunks_.begin(), chunks_.end(), identity.docid, [](const FirstChunk& chunk, uint32_t docid) { return chunk.docid < docid; });
      if (other != chunks_.end() && other->docid == identity.docid) indexes.push_back(static_cast<uint32_t>(other - chunks_.begin()));
    }
    return indexes;
  }

  bool add(const VectorQuery& query, uint32_t index, uint32_t other) {
    const uint32_t slot = chunks_[other].slot;
    const double score = query.score(view_.full(slot), view_.coded(slot).norm).score;
    if (!(score >= threshold_)) return false;
    joined_.join(index, other, score);
    return true;
  }

  const SetView& view_;
  double threshold_;
  std::vector<FirstChunk> chunks_;
  CodeTable table_;
  StopSignal& stop_;
  JoinedPairs joined_;
};

}  // namespace

SimilarGroups similar_groups(const SetView& view, double threshold, uint32_t docidMax, StopSignal& stop) {
  return GroupFinder(view, threshold, first_chunks(view, docidMax), stop).find();
}

}  // namespace mds
