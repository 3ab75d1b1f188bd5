// See list_search.h.
#include "query/pruned/list_search.h"

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <vector>

#include "query/pruned/score_estimate.h"
#include "query/pruned/threshold_mask.h"
#include "segment/postings/posting_list.h"

namespace mds {
namespace {

// Number of estimates that a score is the sum of, for estimate_threshold.
constexpr size_t kListCount = 1;

struct BoundedBlock {
  float bound;
  uint32_t block;
};

class ListSearch {
 public:
  ListSearch(const ResolvedQuery& query, uint32_t index, uint32_t term, size_t field, TopK& top)
      : segment_(query.segments[index]),
        index_(index),
        field_(field),
        top_(top),
        list_(*segment_.ref->segment, *segment_.fields[field], *query.term_at(segment_, term, field)),
        lengths_(segment_.ref->segment->lengths(*segment_.fields[field])),
        scorer_(*query.plan, query.averageLengths, query.idfs[term], query.plan->terms[term].weight),
        isFields_(query.plan->algorithm == Algorithm::kBm25f),
        estimate_(ScoreEstimate::whole(scorer_, field)) {}

  [[nodiscard]] bool is_safe() const noexcept { return estimate_.is_safe(); }

  void run(StopSignal& stop) {
    const ColumnView<BlockEntry>& entries = list_.entries();
    if (entries.empty()) return search_block(0);
    std::vector<BoundedBlock> blocks;
    blocks.reserve(entries.size());
    for (auto run = entries.run_at(0); !run.empty(); run = entries.run_at(blocks.size())) {
      for (const BlockEntry& entry : run) blocks.push_back({estimate_.bound(entry.impacts), static_cast<uint32_t>(blocks.size())});
    }
    const auto isLess = [](const BoundedBlock& a, const BoundedBlock& b) { return a.bound < b.bound; };
    std::make_heap(blocks.begin(), blocks.end(), isLess);
    while (!blocks.empty() && !stop.after(kBlockPostings)) {
      if (blocks.front().bound < estimate_threshold(top_.score_floor(), kListCount)) return;
      search_block(blocks.front().block);
      std::pop_heap(blocks.begin(), blocks.end(), isLess);
      blocks.pop_back();
    }
  }

 private:
  void search_block(uint32_t block) {
    PackedBlock packed{};
    if (!list_.read(block, packed) || !decode_slots(packed, slots_.data())) return;
    decode_tfs(packed, tfs_.data());
    lengths_.gather(std::span(slots_).first(packed.count), lengthsOf_.data());
    for (uint32_t index = packed.count; index % 4 != 0; ++index) tfs_[index] = lengthsOf_[index] = 1;
    estimate_.estimate(tfs_.data(), lengthsOf_.data(), packed.count, estimates_.data());
    collect_block(packed.count);
  }

  void collect_block(uint32_t count) {
    float threshold = estimate_threshold(top_.score_floor(), kListCount);
    std::array<uint32_t, kBlockPostings> candidates;
    uint32_t candidateCount = 0;
    for (uint32_t begin = 0; begin < count; begin += kMaskValues) {
      uint32_t bits = at_least(estimates_.data() + begin, threshold);
      if (count - begin < kMaskValues) bits &= (1U << (count - begin)) - 1;
      for (; bits != 0; bits &= bits - 1) {
        const uint32_t index = begin + static_cast<uint32_t>(std::countr_zero(bits));
        if (segment_.ref->alive(slots_[index])) candidates[candidateCount++] = index;
      }
    }
    if (candidateCount > top_.wanted()) threshold = std::max(threshold, last_wanted(std::span(candidates).first(candidateCount)));
    for (uint32_t at = 0; at < candidateCount; ++at) {
      const uint32_t index = candidates[at];
      if (!(estimates_[index] < threshold)) top_.collect(index_, slots_[index], exact_score(index));
    }
  }

  // Returns the estimate of the last wanted candidate: a score below it need not be computed exactly.
  [[nodiscard]] float last_wanted(std::span<const uint32_t> candidates) const {
    std::array<float, kBlockPostings> best;
    for (size_t at = 0; at < candidates.size(); ++at) best[at] = estimates_[candidates[at]];
    float* const last = best.data() + top_.wanted() - 1;
    std::nth_element(best.data(), last, best.data() + candidates.size(), std::greater<>());
    // Both sides of the comparison are estimates: the slack is doubled.
    return estimate_threshold(static_cast<double>(*last), 2 * kListCount + 2);
  }

  [[nodiscard]] double exact_score(uint32_t index) const noexcept {
    if (!isFields_) return scorer_.score(field_, tfs_[index], lengthsOf_[index]);
    return scorer_.score_sum(scorer_.field_tf(field_, tfs_[index], lengthsOf_[index]));
  }

  const ResolvedSegment& segment_;
  uint32_t index_;
  size_t field_;
  TopK& top_;
  PostingList list_;
  FieldLengths lengths_;
  LeafScorer scorer_;
  bool isFields_;
  ScoreEstimate estimate_;
  // Data of the current block.
  std::array<uint32_t, kBlockPostings> slots_;
  std::array<uint32_t, kBlockPostings> tfs_;
  std::array<uint32_t, kBlockPostings> lengthsOf_;
  std::array<float, kBlockPostings> estimates_;
};

}  // namespace

bool search_list(const ResolvedQuery& query, uint32_t index, uint32_t term, size_t field, TopK& top, StopSignal& stop) {
  ListSearch search(query, index, term, field, top);
  if (!search.is_safe()) return false;
  search.run(stop);
  return true;
}

}  // namespace mds
