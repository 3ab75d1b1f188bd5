// Pruned search of a phrase, window by window. A phrase occurs at most as often as the rarest of its terms,
// so the estimates of its terms bound its score. Positions are read only for documents that contain all terms
// often enough. See pruned_search.h and window_source.h. Used by one search on one thread.
#pragma once

#include <cstdint>
#include <vector>

#include "query/page/top_k.h"
#include "query/pruned/pruned_plan.h"
#include "query/pruned/segment_filter.h"
#include "query/pruned/window_source.h"
#include "query/pruned/windowed_list.h"

namespace mds {

class PhraseWindows final : public WindowSource {
 public:
  PhraseWindows(const ResolvedQuery& query, const PrunedPlan& plan, uint32_t index, const WindowGrid& grid, SegmentFilter& filter, DecodedBlockPool& pool, TopK& top);

  [[nodiscard]] bool is_safe() const noexcept override { return isSafe_; }
  // Each term is a bound of the phrase by itself: one estimate per field is added.
  [[nodiscard]] size_t list_count() const noexcept override { return fields_.size(); }
  [[nodiscard]] float bound_window(uint32_t window) const noexcept override;
  void begin_pass(const SegmentBoosts& boosts, double factorMost) noexcept override {
    boosts_ = &boosts;
    factorMost_ = factorMost;
  }
  void search_window(uint32_t window) override;
  void forget_blocks() noexcept override;

 private:
  struct Term {
    WindowedList list;
    int64_t offset;
  };
  // The phrase in one scored field, rarest term first.
  struct Field {
    size_t field;
    std::vector<Term> terms;
  };
  struct Match {
    uint32_t slot;
    uint32_t field;  // index in fields_
    uint32_t occurrences;
  };
  // A document that contains all terms looked up so far. The indexes of its postings in their lists are
  // postings_[candidate * terms + term].
  struct Candidate {
    uint32_t slot;
    float estimate;  // minimum over its terms
  };

  void add_field(const ResolvedQuery& query, const PlanNode& node, size_t field, ScoreEstimate estimate, const WindowGrid& grid, DecodedBlockPool& pool);
  // Returns the bound of one field in the window; 0 if the field cannot match.
  [[nodiscard]] static float field_max(const Field& field, uint32_t window) noexcept;
  // Whether a document with this estimate in one field, and `others` as the sum over the other fields, is
  // below the threshold.
  [[nodiscard]] bool is_lost(float estimate, float others) const noexcept { return (isSummed_ ? whole_.finish(estimate + others) : estimate + others) < threshold_; }
  // Collects the candidates of the field's rarest term.
  void propose(Field& field, float others);
  // Keeps the candidates that contain the term, often enough.
  void join(Field& field, size_t term, float others);
  // Verifies that the terms of each candidate occur at the distances of the phrase. Adds those candidates to
  // the matches, or collects them if there is no other field.
  void confirm(uint32_t fieldIndex, float others);
  [[nodiscard]] uint32_t count_occurrences(Field& field, size_t candidate);
  // Collects the matches of one slot, in the order of the fields.
  void collect(std::span<const Match> matches);

  const ResolvedSegment& segment_;
  uint32_t index_;
  SegmentFilter& filter_;
  TopK& top_;
  PhraseScoring scoring_;
  LeafScorer scorer_;
  ScoreEstimate whole_;
  bool isSummed_ = false;  // the estimates are parts of a bm25f score
  bool isSafe_ = true;
  std::vector<Field> fields_;
  const SegmentBoosts* boosts_ = nullptr;  // of the current pass
  double factorMost_ = 1;

  // Data of the current window.
  uint32_t window_ = 0;
  float threshold_ = 0;
  std::vector<Candidate> candidates_;
  std::vector<uint32_t> postings_;
  std::vector<PositionRun> runs_;  // position runs of the first two terms of each candidate
  std::vector<Match> matches_;
  std::vector<uint32_t> positions_;
  std::vector<uint32_t> starts_;
};

}  // namespace mds
